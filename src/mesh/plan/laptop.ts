/** What an external Peer has to configure (kilo.md §10.2 "showconf peer"; reports K-06, K-35, K-43). */
import { containsAddress, type InterfaceAddress, type Prefix } from "../../ip/index.ts";
import { formatEndpoint, type PeerConfig } from "../../wireguard/index.ts";
import type { Mode } from "../facts/mode.ts";
import type { PlanInput } from "../options.ts";
import { nodeProblem, type Problem, peerProblem, sortProblems } from "../problems.ts";
import { isBehindNat } from "../topology/endpoints.ts";
import type { Segment, Topology } from "../topology/topology.ts";
import { heldPrefixes, segmentPeer } from "./device.ts";
import { nameProblems, type UnresolvedName, unresolvedNames } from "./names.ts";
import type { Ownership } from "./ownership.ts";
import { resolveMesh } from "./plan.ts";

export interface PeerPlan {
  readonly mode: Mode;
  readonly topology: Topology;
  /** The Peer's own addresses, as written. */
  readonly addresses: readonly InterfaceAddress[];
  /** One for each segment, in their order, then one for each other external Peer, by name. */
  readonly peers: readonly PeerConfig[];
  /** Whether the Peer takes part. If not, `problems` say why, and nobody will answer it. */
  readonly ready: boolean;
  /** Sorted. */
  readonly problems: readonly Problem[];
  readonly unresolved: readonly UnresolvedName[];
}

/** A laptop sees the mesh from no node, so every segment is another one. No Node object has an empty name. */
const NO_HOST = "";

/** Plans an external Peer; undefined when there is none with this name. Of the input's own host only what it has learned counts. */
export function planPeer(input: PlanInput, peerName: string): PeerPlan | undefined {
  const { facts, topology, ownership, problems } = resolveMesh({ ...input, hostname: NO_HOST });
  const own = facts.peers.find(({ name }) => name === peerName);
  if (own === undefined) return undefined;
  const unresolved = unresolvedNames(topology, input.resolve);
  const configured = otherEnds(topology, ownership, peerName).map((peer) =>
    withoutOwnEndpoint(peer, peerName),
  );
  const hidden = topology.segments.filter(isHidden).map(({ leader }) => {
    return nodeProblem(
      leader.name,
      "endpoint-hidden",
      `${peerName} waits for it to call: nobody has published its endpoint yet`,
    );
  });
  const isReady = topology.peers.some((peer) => peer.name === peerName && ownership.hasTunnelKey(peer));
  return {
    mode: facts.mode,
    topology,
    addresses: own.writtenAllowedIPs,
    peers: configured.map(({ peer }) => peer),
    ready: isReady,
    problems: sortProblems([
      ...problems,
      ...nameProblems(unresolved),
      ...hidden,
      ...configured.flatMap((entry) => entry.problems),
    ]),
    unresolved,
  };
}

/** All with the Peer's keepalive; segments also with its preshared key, which stands on their side too. */
function otherEnds(topology: Topology, ownership: Ownership, peerName: string): PeerConfig[] {
  const own = topology.peers.find(({ name }) => name === peerName)?.facts;
  const keepalive = own?.persistentKeepalive ?? 0;
  const segments = topology.segments.filter(ownership.hasTunnelKey).map((segment) => {
    const peer = segmentPeer(segment, ownership, keepalive);
    const endpoint = isHidden(segment) ? undefined : peer.endpoint;
    return { ...peer, endpoint, presharedKey: own?.presharedKey };
  });
  const peers = topology.peers.filter((peer) => peer.name !== peerName && ownership.hasTunnelKey(peer));
  return [
    ...segments,
    ...peers.map((peer) => ({
      publicKey: peer.facts.publicKey,
      endpoint: peer.endpoint,
      allowedIPs: heldPrefixes(peer, peer.facts.allowedIPs, ownership),
      persistentKeepalive: keepalive,
    })),
  ];
}

/**
 * Whether the only endpoint known of a segment is the internal IP of a roaming leader: one behind NAT that nobody has heard yet. A laptop
 * elsewhere cannot call it, but hears from it, since the leader learns the laptop's endpoint from others (kilo.md §5.8).
 */
function isHidden({ leader, endpoint }: Segment): boolean {
  return isBehindNat({ ...leader, announced: endpoint });
}

/** A laptop routes all allowed IPs into the tunnel: one that holds the tunnel's own endpoint would cut it (report K-35). */
function withoutOwnEndpoint(peer: PeerConfig, peerName: string): { peer: PeerConfig; problems: Problem[] } {
  const { endpoint } = peer;
  if (endpoint === undefined) return { peer, problems: [] };
  const covers = (prefix: Prefix) => prefix.length > 0 && containsAddress(prefix, endpoint.address);
  const problems = peer.allowedIPs.filter(covers).map(({ text }) => {
    return peerProblem(
      peerName,
      "route-to-endpoint",
      `${text} is left out: endpoint ${formatEndpoint(endpoint)} lies in it`,
    );
  });
  return { peer: { ...peer, allowedIPs: peer.allowedIPs.filter((prefix) => !covers(prefix)) }, problems };
}
