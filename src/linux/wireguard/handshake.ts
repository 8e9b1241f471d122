/**
 * How to make WireGuard send a handshake now, by configuration only. Pure: changes in, changes out.
 *
 * WireGuard has no "connect". It initiates when a packet is to be sent, and when persistent keepalive goes from off to on while the link is
 * up (kernel: `set_peer`; wireguard-go: `persistent_keepalive_interval`). And it sends at most one initiation per peer every 5 s
 * (REKEY_TIMEOUT); the time of the last one is the peer object's, so a peer that is made anew may send at once.
 */
import type { DeviceChange, DeviceStatus, PeerChange, PeerStatus, PublicKey } from "../../wireguard/index.ts";

/** Seconds. Any value but 0 will do for the moment in which keepalive is on. */
const ON = 25;

/** What makes a device call peers: `now` at once, `later` when the device has surely seen it. */
export interface Kick {
  readonly now: DeviceChange;
  /** Puts keepalive back to what it was. */
  readonly later: DeviceChange;
}

/**
 * Switches keepalive on for these peers of the device, and then to what it was. Not in one step: wireguard-go learns a moment after the kernel
 * that its link is up, and then calls only peers whose keepalive is on. Peers without an endpoint cannot be called: left alone.
 */
export function kickOf(device: DeviceStatus, publicKeys: Iterable<PublicKey>): Kick {
  const peers = callable(device, publicKeys);
  const off = peers.filter((peer) => peer.persistentKeepalive === 0);
  return { now: { peers: peers.flatMap(edge) }, later: { peers: off.map((peer) => keepalive(peer, 0)) } };
}

/**
 * Removes and re-adds those of these peers that never had a handshake, then kicks them: their next initiation leaves at once, not after 5 s.
 * Peers with a handshake are left alone: they would lose their session (promise 2).
 */
export function renewChange(device: DeviceStatus, publicKeys: Iterable<PublicKey>): DeviceChange {
  const strangers = callable(device, publicKeys).filter((peer) => peer.latestHandshake === 0);
  return { peers: strangers.flatMap(anew) };
}

function callable(device: DeviceStatus, publicKeys: Iterable<PublicKey>): PeerStatus[] {
  const wanted = new Set(publicKeys);
  return device.peers.filter((peer) => wanted.has(peer.publicKey) && peer.endpoint !== undefined);
}

/** From off to on: to its own value, if it has one. */
function edge(peer: PeerStatus): PeerChange[] {
  if (peer.persistentKeepalive === 0) return [keepalive(peer, ON)];
  return [keepalive(peer, 0), keepalive(peer, peer.persistentKeepalive)];
}

function keepalive(peer: PeerStatus, persistentKeepalive: number): PeerChange {
  return { kind: "update", publicKey: peer.publicKey, persistentKeepalive };
}

/** Added without keepalive, so that the edge is one. */
function anew(peer: PeerStatus): PeerChange[] {
  const { publicKey, presharedKey, endpoint, allowedIPs } = peer;
  const back = peer.persistentKeepalive === 0 ? [keepalive(peer, 0)] : [];
  return [
    { kind: "remove", publicKey },
    { kind: "add", publicKey, presharedKey, endpoint, allowedIPs, persistentKeepalive: 0 },
    ...edge(peer),
    ...back,
  ];
}
