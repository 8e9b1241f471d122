/** Every public key has one owner: a node before a Peer, then the first by name (R-05, B33). */
import type { PublicKey } from "../../wireguard/index.ts";
import type { Problem, ProblemObject } from "../problems.ts";
import { compareNames } from "../topology/order.ts";
import type { Segment, Topology } from "../topology/topology.ts";
import type { Holder } from "./claims.ts";

export interface KeyOwnership {
  /** Whether a tunnel to this holder can stand: its key is its own, and not this host's (no device takes its own key as a peer). */
  hasTunnelKey(holder: Holder): boolean;
  readonly problems: readonly Problem[];
}

/** Nodes and Peers that have a key which belongs to somebody else are left out; in a segment only the leader's key counts. */
export function ownKeys(topology: Topology): KeyOwnership {
  const owners = new Map<PublicKey, ProblemObject>();
  const losers = new Set<string>();
  const problems: Problem[] = [];
  for (const { object, publicKey } of keyHolders(topology)) {
    const owner = owners.get(publicKey);
    if (owner === undefined) {
      owners.set(publicKey, object);
      continue;
    }
    losers.add(`${object.kind} ${object.name}`);
    const message = `has the public key of ${owner.kind} ${owner.name} and is left out`;
    problems.push({ object, reason: "duplicate-key", message });
  }
  const hasTunnelKey = (holder: Holder) => {
    const [name, publicKey] = isSegment(holder)
      ? [`Node ${holder.leader.name}`, holder.leader.publicKey]
      : [`Peer ${holder.name}`, holder.facts.publicKey];
    return !losers.has(name) && publicKey !== topology.ownNode?.publicKey;
  };
  return { hasTunnelKey, problems };
}

/** Whether a holder is a segment, not a Peer. */
export function isSegment(holder: Holder): holder is Segment {
  return "leader" in holder;
}

function keyHolders({ segments, peers }: Topology) {
  const nodes = segments.flatMap((segment) => segment.members).sort(compareNames);
  return [
    ...nodes.map(({ name, publicKey }) => ({ object: { kind: "Node" as const, name }, publicKey })),
    ...peers.map(({ name, facts }) => ({
      object: { kind: "Peer" as const, name },
      publicKey: facts.publicKey,
    })),
  ];
}
