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

/**
 * Removes and re-adds those of these peers that never had a handshake, and switches their keepalive on and then to what it was: an initiation
 * leaves at once, not after 5 s. Peers with a handshake are left alone: they would lose their session (promise 2). So are those without an
 * endpoint: they cannot be called.
 */
export function renewChange(device: DeviceStatus, publicKeys: Iterable<PublicKey>): DeviceChange {
  const strangers = callable(device, publicKeys).filter((peer) => peer.latestHandshake === 0);
  return { peers: strangers.flatMap(anew) };
}

function callable(device: DeviceStatus, publicKeys: Iterable<PublicKey>): PeerStatus[] {
  const wanted = new Set(publicKeys);
  return device.peers.filter((peer) => wanted.has(peer.publicKey) && peer.endpoint !== undefined);
}

/** Added without keepalive, so that there is an edge from off to on. */
function anew(peer: PeerStatus): PeerChange[] {
  const { publicKey, presharedKey, endpoint, allowedIPs } = peer;
  return [
    { kind: "remove", publicKey },
    { kind: "add", publicKey, presharedKey, endpoint, allowedIPs, persistentKeepalive: 0 },
    { kind: "update", publicKey, persistentKeepalive: ON },
    { kind: "update", publicKey, persistentKeepalive: peer.persistentKeepalive },
  ];
}
