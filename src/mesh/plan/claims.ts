/** Who claims which prefix: the input of the second step, in which each prefix and each key gets one owner. */
import { hostPrefix, isLocal, networkOf, type Prefix } from "../../ip/index.ts";
import { compareNames } from "../topology/order.ts";
import type { ExternalPeer } from "../topology/peers.ts";
import { locationIPCarriers, type RouteOwner } from "../topology/routes.ts";
import type { Segment, Topology } from "../topology/topology.ts";

/** What a prefix is to its owner. */
export type ClaimKind = "pod CIDR" | "internal IP" | "tunnel address" | "allowed-location-ip" | "allowed IP";

/** Behind which tunnel a prefix lies: a segment's or an external Peer's. */
export type Holder = Segment | ExternalPeer;

export interface Claim {
  readonly prefix: Prefix;
  readonly kind: ClaimKind;
  readonly owner: RouteOwner;
  readonly holder: Holder;
}

/** Claims of the nodes, by name; host bits cleared. An internal IP that no other host can reach is none (report K-24). */
export function nodeClaims(topology: Topology): Claim[] {
  const members = topology.segments.flatMap((segment) => {
    return segment.members.map((node) => ({ name: node.name, node, segment }));
  });
  const locationIPs = locationIPsByCarrier(topology);
  return members.sort(compareNames).flatMap(({ node, segment }) => {
    const claim = (kind: ClaimKind, prefix: Prefix): Claim => {
      return { prefix, kind, owner: { kind: "Node", name: node.name }, holder: segment };
    };
    const reachable = node.internalIPs.filter(({ address }) => !isLocal(address));
    return [
      ...node.podCIDRs.map((prefix) => claim("pod CIDR", prefix)),
      ...reachable.map(({ address }) => claim("internal IP", hostPrefix(address))),
      ...(segment.leader === node ? [claim("tunnel address", hostPrefix(segment.tunnelAddress))] : []),
      ...(locationIPs.get(node.name) ?? []).map((prefix) => claim("allowed-location-ip", prefix)),
    ];
  });
}

/** Claims of the external Peers, by name; host bits cleared. */
export function peerClaims(topology: Topology): Claim[] {
  return topology.peers.flatMap((peer) => {
    const owner: RouteOwner = { kind: "Peer", name: peer.name };
    return peer.allowedIPs.map((written) => ({
      prefix: networkOf(written),
      kind: "allowed IP" as const,
      owner,
      holder: peer,
    }));
  });
}

/** `pod CIDR 10.2.1.0/24 of Node a`. */
export function describeClaim({ kind, prefix, owner }: Claim): string {
  return `${kind} ${prefix.text} of ${owner.kind} ${owner.name}`;
}

function locationIPsByCarrier({ segments }: Topology): Map<string, Prefix[]> {
  const byCarrier = new Map<string, Prefix[]>();
  for (const segment of segments) {
    const carriers = locationIPCarriers(segment);
    for (const prefix of segment.allowedLocationIPs) {
      const carrier = (carriers.get(prefix.text) ?? segment.leader).name;
      const prefixes = byCarrier.get(carrier);
      if (prefixes === undefined) byCarrier.set(carrier, [prefix]);
      else prefixes.push(prefix);
    }
  }
  return byCarrier;
}
