/**
 * How to make WireGuard send a handshake now, by configuration only. Pure: changes in, changes out.
 *
 * WireGuard has no "connect". It initiates when a packet is to be sent, and when persistent keepalive goes from off to on while the link is
 * up (kernel: `set_peer`; wireguard-go: `persistent_keepalive_interval`). And it sends at most one initiation per peer every 5 s
 * (REKEY_TIMEOUT); the time of the last one is the peer object's, so a peer that is made anew may send at once.
 */
import type { DeviceChange, DeviceStatus, PeerChange, PeerStatus, PublicKey } from "../../wireguard/index.ts";

/** Any value but 0 will do for the moment in which keepalive is on. */
const ON = 25;

/** Switches keepalive on, then to what it was, for these peers of the device. Peers without an endpoint cannot be called: left alone. */
export function kickChange(device: DeviceStatus, publicKeys: Iterable<PublicKey>): DeviceChange {
  return { peers: callable(device, publicKeys).flatMap(edge) };
}

/**
 * Removes and re-adds those of these peers that never had a handshake, then kicks them: their next initiation leaves at once, not after 5 s.
 * Peers with a handshake are left alone: they would lose their session (promise 2).
 */
export function renewChange(device: DeviceStatus, publicKeys: Iterable<PublicKey>): DeviceChange {
  const strangers = callable(device, publicKeys).filter((peer) => peer.latestHandshake === 0);
  return {
    peers: strangers.flatMap((peer) => [
      { kind: "remove", publicKey: peer.publicKey },
      readd(peer),
      ...edge(peer),
    ]),
  };
}

function callable(device: DeviceStatus, publicKeys: Iterable<PublicKey>): PeerStatus[] {
  const wanted = new Set(publicKeys);
  return device.peers.filter((peer) => wanted.has(peer.publicKey) && peer.endpoint !== undefined);
}

function edge(peer: PeerStatus): PeerChange[] {
  const set = (persistentKeepalive: number): PeerChange => ({
    kind: "update",
    publicKey: peer.publicKey,
    persistentKeepalive,
  });
  return peer.persistentKeepalive === 0 ? [set(ON), set(0)] : [set(0), set(peer.persistentKeepalive)];
}

/** Without keepalive, so that `edge` finds it off. */
function readd(peer: PeerStatus): PeerChange {
  return {
    kind: "add",
    publicKey: peer.publicKey,
    presharedKey: peer.presharedKey,
    endpoint: peer.endpoint,
    allowedIPs: peer.allowedIPs,
    persistentKeepalive: 0,
  };
}
