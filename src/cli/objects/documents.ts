/** Text into documents: YAML (several in one text), JSON, and what a `kind: List` holds. */
import { loadAll, YAMLException } from "js-yaml";
import { InputError } from "../errors.ts";

/** One object as it was written, and where. */
export interface Document {
  /** For messages: the file and its place in it, e.g. `mesh.yaml document 3` or `mesh.yaml document 1 item 7`. */
  readonly place: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Kubernetes supports 5,000 nodes; this leaves room for as many Peers and what else stands in a dump. */
const MOST_DOCUMENTS = 50_000;

/** All objects of a text, lists taken apart, empty documents left out. @throws InputError naming the place that cannot be read */
export function readDocuments(source: string, text: string): Document[] {
  const documents = parse(source, text).flatMap((value, index) => {
    const place = `${source} document ${index + 1}`;
    return value === null || value === undefined ? [] : takeApart(place, mapping(place, value));
  });
  if (documents.length > MOST_DOCUMENTS) {
    throw new InputError(`cannot read ${source}: more than ${MOST_DOCUMENTS} objects (${documents.length})`);
  }
  return documents;
}

function parse(source: string, text: string): unknown[] {
  if (!/^\s*[[{]/.test(text)) return parseYaml(source, text);
  // JSON is YAML too, but JSON.parse is five times faster on 30 MB of a large cluster; several values in a row are YAML's.
  try {
    return [JSON.parse(text)];
  } catch {
    return parseYaml(source, text);
  }
}

function parseYaml(source: string, text: string): unknown[] {
  try {
    return loadAll(text);
  } catch (cause) {
    if (!(cause instanceof YAMLException)) throw cause;
    // The exception's own message quotes the lines around the mistake, and a preshared key may stand in them (promise 7).
    const line = cause.mark === undefined ? "" : `, line ${cause.mark.line + 1}`;
    throw new InputError(`cannot read ${source}${line}: not YAML or JSON: ${withoutQuotes(cause.reason)}`);
  }
}

/** Reasons name aliases, anchors and tags as they are written: `*` before a key makes it one. */
function withoutQuotes(reason: string): string {
  return reason.replaceAll(/"[^"]*"|<[^>]*>/g, "(not shown)");
}

/** A list's items, or the object itself. Lists inside lists do not occur and are refused. */
function takeApart(place: string, value: Readonly<Record<string, unknown>>): Document[] {
  if (!isList(value)) return [{ place, value }];
  if (!Array.isArray(value.items)) {
    throw new InputError(
      `cannot read ${place}: items of a ${value.kind} must be a list (${typeof value.items})`,
    );
  }
  return value.items.map((item, index) => {
    const itemPlace = `${place} item ${index + 1}`;
    const object = mapping(itemPlace, item);
    if (isList(object)) throw new InputError(`cannot read ${itemPlace}: a list inside a list`);
    // Items of a typed list, as the API server sends it, do not repeat kind and version.
    const kind = object.kind ?? itemKind(value.kind);
    return {
      place: itemPlace,
      value: { ...object, kind, apiVersion: object.apiVersion ?? itemVersion(value) },
    };
  });
}

function isList(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value.kind === "string" && value.kind.endsWith("List") && "items" in value;
}

function itemKind(listKind: unknown): string | undefined {
  return typeof listKind === "string" && listKind !== "List" ? listKind.slice(0, -"List".length) : undefined;
}

function itemVersion(list: Readonly<Record<string, unknown>>): unknown {
  return list.kind === "List" ? undefined : list.apiVersion;
}

function mapping(place: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isMapping(value)) return value;
  throw new InputError(
    `cannot read ${place}: not an object with fields (${Array.isArray(value) ? "a list" : typeof value})`,
  );
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
