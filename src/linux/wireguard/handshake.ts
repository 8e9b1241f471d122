/**
 * How to make WireGuard send something now, by configuration only. Pure: changes in, changes out.
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

/**
 * Switches the keepalive of these peers on and then to what it was: to each that can be called a keepalive leaves at once, or an initiation
 * where there is no session. For when this host has another address: a peer learns it from the first packet that it gets from there.
 * The endpoint is written as it is: wireguard-go sends from the address that it sent from before, and loses every packet while that is
 * gone (it forgets it after 15 s without an answer); an endpoint that is written anew has no such past.
 */
export function announceChange(device: DeviceStatus, publicKeys: Iterable<PublicKey>): DeviceChange {
  return {
    peers: callable(device, publicKeys).flatMap(
      ({ publicKey, endpoint, persistentKeepalive }): PeerChange[] => [
        { kind: "update", publicKey, endpoint, persistentKeepalive: 0 },
        { kind: "update", publicKey, persistentKeepalive: ON },
        { kind: "update", publicKey, persistentKeepalive },
      ],
    ),
  };
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
