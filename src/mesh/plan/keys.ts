/** Every public key has one owner: a node before a Peer, then the first by name (R-05, B33). */
import type { PublicKey } from "../../wireguard/index.ts";
import type { ReadyNode } from "../facts/readiness.ts";
import type { Problem, ProblemObject } from "../problems.ts";
import { compareNames } from "../topology/order.ts";
import type { Segment, Topology } from "../topology/topology.ts";
import type { Holder } from "./claims.ts";

export interface KeyOwnership {
  /** Whether a tunnel to this holder can stand: its key is its own, and not this host's (no device takes its own key as a peer). */
  hasTunnelKey(holder: Holder): boolean;
  readonly problems: readonly Problem[];
}

/**
 * Nodes and Peers that have a key which belongs to somebody else are left out. Leaders come before other nodes: a key of one that leads
 * nothing stands on no device, and must not cut off the location of a leader.
 */
export function ownKeys(topology: Topology): KeyOwnership {
  const owners = new Map<PublicKey, ProblemObject>();
  const losers = new Set<string>();
  const problems: Problem[] = [];
  for (const { object, publicKey, consequence } of keyHolders(topology)) {
    const owner = owners.get(publicKey);
    if (owner === undefined) {
      owners.set(publicKey, object);
      continue;
    }
    losers.add(`${object.kind} ${object.name}`);
    const message = `has the public key of ${owner.kind} ${owner.name} and ${consequence}`;
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

interface KeyHolder {
  readonly object: ProblemObject;
  readonly publicKey: PublicKey;
  /** Of having somebody else's key. */
  readonly consequence: string;
}

function keyHolders({ segments, peers }: Topology): KeyHolder[] {
  const leaders = segments.map(({ leader }) => leader).sort(compareNames);
  const followers = segments.flatMap(({ members, leader }) => members.filter((node) => node !== leader));
  const ofNodes = (nodes: readonly ReadyNode[], consequence: string): KeyHolder[] => {
    return nodes.map(({ name, publicKey }) => ({ object: { kind: "Node", name }, publicKey, consequence }));
  };
  return [
    ...ofNodes(leaders, "is left out, with the nodes that it leads"),
    ...ofNodes(followers.sort(compareNames), "cannot lead its location"),
    ...peers.map(({ name, facts }): KeyHolder => {
      return { object: { kind: "Peer", name }, publicKey: facts.publicKey, consequence: "is left out" };
    }),
  ];
}
