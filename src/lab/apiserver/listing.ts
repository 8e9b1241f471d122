/** Lists: selected, in pages, at one revision. */
import type { ApiObject } from "./json.ts";
import { type Resource, storeName } from "./resources.ts";
import { both, parseFieldSelector, parseLabelSelector, type Selector } from "./selectors.ts";
import { badRequest, expired } from "./status.ts";
import type { Store } from "./store.ts";

/** One page of a list. */
export interface Page {
  readonly items: readonly ApiObject[];
  /** The resourceVersion of the whole list: every page has that of the first. */
  readonly revision: number;
  /** The token for the next page; absent on the last one. */
  readonly next?: string;
  /** How many items come after this page; absent on the last one, and where a selector makes it unknown. */
  readonly remaining?: number;
}

/** What the query of a list or watch selects in a namespace (undefined: in all of them). */
export function querySelector(
  resource: Resource,
  namespace: string | undefined,
  query: URLSearchParams,
): Selector {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "", resource.selectableFields);
  const selected = both(labels, fields);
  if (namespace === undefined) return selected;
  return both((object) => object.metadata.namespace === namespace, selected);
}

/**
 * Serves `limit`, `continue`, `resourceVersion` and `resourceVersionMatch`. Throws 400, 410 (the token's revision is
 * forgotten) and 504 (a revision from the future).
 */
export function listPage(
  store: Store,
  resource: Resource,
  namespace: string | undefined,
  query: URLSearchParams,
): Page {
  const token = query.get("continue");
  const from = token ? parseToken(token) : undefined;
  const revision = from?.revision ?? listRevision(store, query);
  const selector = querySelector(resource, namespace, query);
  const all = entriesAt(store, resource, revision, from !== undefined);
  const selected = all.filter(
    ([key, object]) => (from === undefined || key > from.after) && selector(object),
  );
  const limit = Number(query.get("limit") ?? "0");
  const page = limit > 0 ? selected.slice(0, limit) : selected;
  const items = page.map(([, object]) => object);
  const last = page.at(-1);
  if (last === undefined || page.length === selected.length) return { items, revision };
  const next = makeToken(revision, last[0]);
  const filtered = query.get("labelSelector") || query.get("fieldSelector");
  return { items, revision, next, ...(!filtered && { remaining: selected.length - page.length }) };
}

/** A resourceVersion parameter as a revision; undefined when absent. Throws 400 when it is not a number. */
export function parseRevision(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw badRequest(
    `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
  );
}

function listRevision(store: Store, query: URLSearchParams): number {
  const asked = parseRevision(query.get("resourceVersion"));
  const exact = query.get("resourceVersionMatch") === "Exact" && asked !== undefined;
  // "Not older than" is checked by listing at the asked revision when that lies in the future.
  return exact || (asked ?? 0) > store.revision ? (asked ?? 0) : store.revision;
}

function entriesAt(
  store: Store,
  resource: Resource,
  revision: number,
  continued: boolean,
): [string, ApiObject][] {
  try {
    return store.list(storeName(resource), revision);
  } catch (error) {
    if (!continued) throw error;
    const why = "The provided continue parameter is too old to display a consistent list result";
    throw expired(`${why}; start a new list without the continue parameter`);
  }
}

function makeToken(revision: number, after: string): string {
  return Buffer.from(JSON.stringify({ revision, after })).toString("base64url");
}

function parseToken(token: string): { revision: number; after: string } {
  try {
    const { revision, after } = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Number.isInteger(revision) && typeof after === "string") return { revision, after };
  } catch {
    // Told below, like a token of the wrong shape.
  }
  throw badRequest("continue key is not valid: it was not made by this server");
}
