/** Node and Peer objects out of files. Other kinds are counted and left out; a name may stand only once per kind. */
import type { NodeObject, PeerObject } from "../../mesh/index.ts";
import { InputError } from "../errors.ts";
import type { Io } from "../io.ts";
import { toNode, toPeer } from "./convert.ts";
import { type Document, readDocuments } from "./documents.ts";

export interface Objects {
  readonly nodes: readonly NodeObject[];
  readonly peers: readonly PeerObject[];
  /** How many objects of which other kinds were left out. */
  readonly ignored: ReadonlyMap<string, number>;
}

/** 5,000 Node objects of a large cluster are about 50 MB as JSON. */
const MOST_BYTES = 128 * 1024 * 1024;

/** Peers of other groups, if there are any, are not ours. */
const PEER_GROUP = "kilo.squat.ai/";

/** Reads all files, `-` being standard input. @throws InputError naming file, document and field */
export async function loadObjects(files: readonly string[], io: Io): Promise<Objects> {
  const documents: Document[] = [];
  for (const file of files) {
    documents.push(...readDocuments(sourceName(file), await io.read(file, MOST_BYTES)));
  }
  if (documents.length === 0)
    throw new InputError(`cannot use ${files.map(sourceName).join(", ")}: no objects in it`);
  return sortIntoKinds(documents);
}

/** How messages call a file. */
export function sourceName(file: string): string {
  return file === "-" ? "standard input" : file;
}

function sortIntoKinds(documents: readonly Document[]): Objects {
  const nodes: NodeObject[] = [];
  const peers: PeerObject[] = [];
  const ignored = new Map<string, number>();
  const seen = new Map<string, string>();
  for (const { place, value } of documents) {
    const kind = kindOf(place, value);
    const named = `${place} (${kind} ${nameOf(value)})`;
    if (kind === "Node") nodes.push(once(toNode(named, value), kind, place, seen));
    else if (kind === "Peer") peers.push(once(toPeer(named, value), kind, place, seen));
    else ignored.set(kind, (ignored.get(kind) ?? 0) + 1);
  }
  return { nodes, peers, ignored };
}

/** `Node` and `Peer` only for those of our groups; any other kind as it is called. */
function kindOf(place: string, value: Readonly<Record<string, unknown>>): string {
  const { kind, apiVersion } = value;
  if (typeof kind !== "string" || kind === "") throw new InputError(`cannot use ${place}: kind is missing`);
  if (typeof apiVersion !== "string" || apiVersion === "") {
    throw new InputError(`cannot use ${place}: apiVersion is missing`);
  }
  const ours =
    (kind === "Node" && apiVersion === "v1") || (kind === "Peer" && apiVersion.startsWith(PEER_GROUP));
  return ours || !["Node", "Peer"].includes(kind) ? kind : `${kind}.${apiVersion}`;
}

function nameOf(value: Readonly<Record<string, unknown>>): string {
  const { metadata } = value;
  const name =
    typeof metadata === "object" && metadata !== null && "name" in metadata ? metadata.name : undefined;
  return typeof name === "string" ? name : "without name";
}

function once<T extends NodeObject | PeerObject>(
  object: T,
  kind: string,
  place: string,
  seen: Map<string, string>,
): T {
  const key = `${kind} ${object.metadata.name}`;
  const earlier = seen.get(key);
  if (earlier !== undefined) throw new InputError(`cannot use ${place}: ${key} stands in ${earlier} already`);
  seen.set(key, place);
  return object;
}
