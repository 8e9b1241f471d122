/** Which nodes and Peers take part, and why the others do not (kilo.md §2.4). */
import { nodeProblem, type Problem, peerProblem } from "../problems.ts";
import { ANNOTATIONS } from "./annotations.ts";
import { checkedInAt, FRESH_SECONDS, type FreshnessView, isFresh } from "./freshness.ts";
import type { NodeFacts } from "./node.ts";
import type { PeerFacts } from "./peer.ts";

/** A node whose key is known: the only ones that can take part. */
export type ReadyNode = NodeFacts & { readonly publicKey: NonNullable<NodeFacts["publicKey"]> };
/** A Peer whose key is known and that has an allowed IP. */
export type ReadyPeer = PeerFacts & { readonly publicKey: NonNullable<PeerFacts["publicKey"]> };

/** The first reason for which a node takes no part; undefined when it does. The message says which field it hangs on (report K-97). */
export function whyNotReady(node: NodeFacts, view: FreshnessView): Problem | undefined {
  const { name } = node;
  if (node.publicKey === undefined) {
    return nodeProblem(
      name,
      "node-without-key",
      `no usable key in annotation ${ANNOTATIONS.key}: does an agent run there?`,
    );
  }
  if (node.podCIDRs.length === 0) {
    return nodeProblem(name, "node-without-pod-cidr", "spec.podCIDR is missing or not a prefix");
  }
  if (node.endpoints.length === 0 && !node.endpointRefused) {
    return nodeProblem(
      name,
      "node-without-endpoint",
      `no usable endpoint in annotation ${ANNOTATIONS.endpoint}`,
    );
  }
  if (!isFresh(checkedInAt(node, view), view)) {
    // Moments, not ages: a problem that lasts keeps its words.
    const when = node.lastSeen === 0 ? "never" : timeText(node.lastSeen);
    return nodeProblem(
      name,
      "node-stale",
      `last check-in (${ANNOTATIONS.lastSeen}): ${when}; the limit is ${FRESH_SECONDS} s`,
    );
  }
  return undefined;
}

/** Whether a node takes part. */
export function isReadyNode(node: NodeFacts, view: FreshnessView): node is ReadyNode {
  return whyNotReady(node, view) === undefined;
}

/** The first reason for which a Peer takes no part; undefined when it does. */
export function whyPeerNotReady(peer: PeerFacts): Problem | undefined {
  if (peer.publicKey === undefined)
    return peerProblem(peer.name, "peer-without-key", "spec.publicKey is missing or not 32 bytes of base64");
  if (peer.allowedIPs.length === 0) {
    return peerProblem(peer.name, "peer-without-allowed-ips", "spec.allowedIPs has no usable prefix");
  }
  if (peer.presharedKeyInvalid) {
    return peerProblem(
      peer.name,
      "peer-invalid",
      "spec.presharedKey is not 32 bytes of base64, and a tunnel without it is refused",
    );
  }
  return undefined;
}

/** Whether a Peer takes part. */
export function isReadyPeer(peer: PeerFacts): peer is ReadyPeer {
  return whyPeerNotReady(peer) === undefined;
}

/** Unix seconds as people read them, UTC. */
function timeText(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? `${seconds}` : time.toISOString().replace(".000Z", "Z");
}
