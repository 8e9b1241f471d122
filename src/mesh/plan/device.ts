/** The WireGuard device of a host (kilo.md §5.6). */
import { comparePrefixes, type Prefix, uniquePrefixes } from "../../ip/index.ts";
import type { DeviceConfig, PeerConfig } from "../../wireguard/index.ts";
import type { OwnHost } from "../options.ts";
import type { Segment, Topology } from "../topology/topology.ts";
import { tunnelledSegments } from "../topology/tunnels.ts";
import type { Holder } from "./claims.ts";
import type { Ownership } from "./ownership.ts";

/** What a device needs besides the topology. */
export interface DeviceOptions {
  readonly own: OwnHost;
  /** Port to listen on while the own node announces no endpoint. */
  readonly port: number;
}

/**
 * The device. It listens on the port of the own endpoint, so that a forced one moves it (§5.7). Peers in order of their keys: one for each
 * segment with a tunnel and one for each external Peer; none on a host that leads no segment.
 */
export function planDevice(
  topology: Topology,
  ownership: Ownership,
  { own, port }: DeviceOptions,
): DeviceConfig {
  const listenPort = topology.ownNode?.endpoints[0]?.port ?? port;
  const peers = topology.leader ? leaderPeers(topology, ownership) : [];
  return {
    privateKey: own.privateKey,
    listenPort,
    peers: peers.sort((a, b) => (a.publicKey < b.publicKey ? -1 : 1)),
  };
}

function leaderPeers(topology: Topology, ownership: Ownership): PeerConfig[] {
  const keepalive = topology.ownNode?.persistentKeepalive ?? 0;
  const segments = tunnelledSegments(topology).filter(ownership.hasTunnelKey);
  const peers = topology.peers.filter(ownership.hasTunnelKey);
  return [
    ...segments.map((segment) => segmentPeer(segment, ownership, keepalive)),
    ...peers.map((peer) => ({
      publicKey: peer.facts.publicKey,
      presharedKey: peer.facts.presharedKey,
      endpoint: peer.endpoint,
      allowedIPs: heldPrefixes(peer, peer.facts.allowedIPs, ownership),
      // What the Peer asks for, not what the own node's annotation says (report K-18).
      persistentKeepalive: peer.facts.persistentKeepalive,
    })),
  ];
}

/** The leader of a segment as a peer. Keepalive is the contacting side's own, as its NAT needs it. */
export function segmentPeer(segment: Segment, ownership: Ownership, persistentKeepalive: number): PeerConfig {
  const prefixes = [...segment.allowedIPs, ...segment.allowedLocationIPs];
  return {
    publicKey: segment.leader.publicKey,
    endpoint: segment.endpoint,
    allowedIPs: heldPrefixes(segment, prefixes, ownership),
    persistentKeepalive,
  };
}

/** What is left of a holder's prefixes after conflicts; sorted, without duplicates. */
export function heldPrefixes(holder: Holder, prefixes: readonly Prefix[], ownership: Ownership): Prefix[] {
  return uniquePrefixes(prefixes)
    .filter((prefix) => ownership.isHeldBy(prefix, holder))
    .sort(comparePrefixes);
}
