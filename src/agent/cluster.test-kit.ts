/** An API server that is two maps: what the agent under test sees of a cluster, and what it writes into it. */
import { type Prefix, parsePrefix } from "../ip/index.ts";
import type { Change } from "../kube/index.ts";
import {
  AGENT_ANNOTATION,
  ANNOTATIONS,
  agentAnnotation,
  type NodeObject,
  type PeerObject,
} from "../mesh/index.ts";
import { type PublicKey, publicKeyFromBytes } from "../wireguard/index.ts";

/** Milliseconds until a write comes back by the watch. */
const ECHO_MS = 5;

/** Seconds between two check-ins of a node (kilo.md §2.4). */
const CHECK_IN_SECONDS = 30;

export interface NodeSketch {
  readonly name: string;
  readonly location: string;
  readonly podCIDR?: string | undefined;
  /** None: an agent that has not run yet. */
  readonly key?: PublicKey | undefined;
  readonly endpoint?: string | undefined;
  readonly internalIP?: string | undefined;
  readonly keepalive?: number | undefined;
  /** Further annotations, by short name. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A Node object; with a key, one whose agent (of ours) has just checked in. */
export function nodeOf(sketch: NodeSketch): NodeObject {
  const now = Math.floor(Date.now() / 1000);
  const announced: Record<string, string | undefined> =
    sketch.key === undefined
      ? {}
      : {
          [ANNOTATIONS.key]: sketch.key,
          [ANNOTATIONS.endpoint]: sketch.endpoint ?? "",
          [ANNOTATIONS.internalIP]: sketch.internalIP ?? "",
          [ANNOTATIONS.lastSeen]: String(now),
          [AGENT_ANNOTATION]: agentAnnotation("other", now),
        };
  if (sketch.keepalive !== undefined) announced[ANNOTATIONS.persistentKeepalive] = String(sketch.keepalive);
  for (const [name, text] of Object.entries(sketch.annotations ?? {}))
    announced[`kilo.squat.ai/${name}`] = text;
  const annotations = Object.fromEntries(
    Object.entries(announced).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return {
    metadata: {
      name: sketch.name,
      labels: { "topology.kubernetes.io/region": sketch.location },
      annotations,
    },
    spec: { podCIDR: sketch.podCIDR },
  };
}

export function peerOf(name: string, spec: PeerObject["spec"]): PeerObject {
  return { metadata: { name }, spec };
}

/** A key that is easy to tell from others. */
export function keyOf(number: number): PublicKey {
  const bytes = new Uint8Array(32).fill(7);
  bytes[0] = number & 0xff;
  bytes[1] = number >> 8;
  return required(publicKeyFromBytes(bytes));
}

export function prefixOf(text: string): Prefix {
  return required(parsePrefix(text));
}

export class FakeCluster {
  /** What the agent's watches have told it. */
  readonly nodes = new Map<string, NodeObject>();
  readonly peers = new Map<string, PeerObject>();
  /** Whether the first lists came. */
  synced = true;
  /** `away`: nothing is heard and nothing can be written. `deaf`: writes go through, but no watch is live. `mute`: the other way round. */
  connection: "up" | "away" | "deaf" | "mute" = "up";
  /** Whether the agents of other nodes check in. */
  othersLive = true;
  /** How far, in seconds, the clocks of other nodes are ahead of this host's. */
  othersAhead = 0;
  /** Every patch that was accepted. */
  readonly writes: Readonly<Record<string, string>>[] = [];
  /** How many patches were tried, also in vain. */
  attempts = 0;
  /** Hear what watches would tell. */
  onNode: (change: Change<NodeObject>) => void = () => {};
  onPeer: (what: string) => void = () => {};
  readonly #hostname: string;
  /** What the server has. */
  readonly #server = { nodes: new Map<string, NodeObject>(), peers: new Map<string, PeerObject>() };
  #beat: number;
  #heardAt: number;

  constructor(hostname: string, nodes: readonly NodeObject[], peers: readonly PeerObject[]) {
    this.#hostname = hostname;
    for (const node of nodes) this.#server.nodes.set(node.metadata.name, node);
    for (const peer of peers) this.#server.peers.set(peer.metadata.name, peer);
    this.#beat = Date.now();
    this.#heardAt = Date.now();
    this.list();
  }

  /** One of the two sources of an agent. */
  source<T>(items: ReadonlyMap<string, T>) {
    const cluster = this;
    return {
      items: () => items,
      get synced() {
        return cluster.synced;
      },
      get heardAt() {
        return cluster.#heardAt;
      },
      get lastError() {
        return cluster.connection === "up" ? undefined : new Error("cannot list: connection refused");
      },
    };
  }

  async patchOwnNode(annotations: Readonly<Record<string, string>>): Promise<void> {
    this.attempts += 1;
    if (!this.#isWritable) throw new Error("cannot patch the node: connection refused");
    this.writes.push(annotations);
    setTimeout(() => this.annotate(this.#hostname, annotations), ECHO_MS);
  }

  setNode(node: NodeObject): void {
    const { name } = node.metadata;
    const previous = this.nodes.get(name);
    this.#server.nodes.set(name, node);
    const change =
      previous === undefined
        ? ({ kind: "added", name, object: node } as const)
        : ({ kind: "changed", name, object: node, previous } as const);
    if (this.#echo()) this.onNode(change);
  }

  removeNode(name: string): void {
    const previous = this.nodes.get(name);
    this.#server.nodes.delete(name);
    if (previous !== undefined && this.#echo()) this.onNode({ kind: "removed", name, previous });
  }

  setPeer(peer: PeerObject): void {
    this.#server.peers.set(peer.metadata.name, peer);
    if (this.#echo()) this.onPeer(`peer ${peer.metadata.name}`);
  }

  removePeer(name: string): void {
    this.#server.peers.delete(name);
    if (this.#echo()) this.onPeer(`peer ${name}`);
  }

  /** Annotations by full name; undefined removes one. */
  annotate(name: string, annotations: Readonly<Record<string, string | undefined>>): void {
    const node = this.#server.nodes.get(name);
    if (node === undefined) return;
    const merged = Object.entries({ ...node.metadata.annotations, ...annotations });
    const present = merged.filter((entry): entry is [string, string] => entry[1] !== undefined);
    this.setNode({ ...node, metadata: { ...node.metadata, annotations: Object.fromEntries(present) } });
  }

  /** What the server has, by short name. */
  annotationOf(name: string, short: string): string | undefined {
    return this.#server.nodes.get(name)?.metadata.annotations?.[`kilo.squat.ai/${short}`];
  }

  /** A complete list: the agent sees what the server has. */
  list(): void {
    this.#heardAt = Date.now();
    copy(this.#server.nodes, this.nodes);
    copy(this.#server.peers, this.peers);
  }

  /** Time went on: nodes with a running agent check in when they are due, and no one while the server is away. */
  tick(): void {
    if (Date.now() - this.#beat < CHECK_IN_SECONDS * 1000) return;
    if (!this.#isWritable) return;
    this.#beat = Date.now();
    if (this.othersLive) this.checkInOthers();
  }

  /** All other nodes that have a key check in now. */
  checkInOthers(): void {
    const now = Math.floor(Date.now() / 1000) + this.othersAhead;
    for (const { metadata } of [...this.#server.nodes.values()]) {
      const hasKey = metadata.annotations?.[ANNOTATIONS.key] !== undefined;
      if (metadata.name === this.#hostname || !hasKey) continue;
      this.annotate(metadata.name, {
        [ANNOTATIONS.lastSeen]: String(now),
        [AGENT_ANNOTATION]: agentAnnotation("other", now),
      });
    }
  }

  get #isWritable(): boolean {
    return this.connection === "up" || this.connection === "deaf";
  }

  /** Whether the watch brings what just changed. */
  #echo(): boolean {
    if (this.connection !== "up" && this.connection !== "mute") return false;
    this.list();
    return true;
  }
}

function copy<T>(from: ReadonlyMap<string, T>, to: Map<string, T>): void {
  to.clear();
  for (const [name, item] of from) to.set(name, item);
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError("a fixture cannot be read");
  return value;
}
