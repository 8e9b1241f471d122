/** What a device is after a change: the effect of `set`, as WireGuard defines it. Pure. */
import { comparePrefixes, uniquePrefixes } from "../../ip/index.ts";
import type { DeviceChange, DeviceStatus, PeerChange, PeerStatus, PublicKey } from "../../wireguard/index.ts";

/** A device that was just made. */
export const EMPTY_DEVICE: DeviceStatus = { privateKey: undefined, listenPort: 0, peers: [] };

/**
 * The device after the change. Counters and handshakes of peers that are not removed run on. A prefix belongs to one peer: it moves to the
 * peer that got it last (cryptokey routing).
 */
export function applyToDevice(device: DeviceStatus, change: DeviceChange): DeviceStatus {
  const peers = new Map(device.peers.map((peer) => [peer.publicKey, peer]));
  for (const peer of change.peers) applyPeer(peers, peer);
  return {
    privateKey: change.privateKey ?? device.privateKey,
    listenPort: change.listenPort ?? device.listenPort,
    peers: [...peers.values()],
  };
}

function applyPeer(peers: Map<PublicKey, PeerStatus>, change: PeerChange): void {
  if (change.kind === "remove") {
    peers.delete(change.publicKey);
    return;
  }
  const before = peers.get(change.publicKey);
  if (before === undefined && change.kind === "update") return;
  const peer = before ?? newPeer(change.publicKey);
  const presharedKey =
    change.presharedKey === undefined ? peer.presharedKey : (change.presharedKey ?? undefined);
  if (change.allowedIPs !== undefined)
    takeFromOthers(peers, change.publicKey, new Set(change.allowedIPs.map((prefix) => prefix.text)));
  peers.set(change.publicKey, {
    ...peer,
    presharedKey,
    endpoint: change.endpoint ?? peer.endpoint,
    persistentKeepalive: change.persistentKeepalive ?? peer.persistentKeepalive,
    allowedIPs: uniquePrefixes(change.allowedIPs ?? peer.allowedIPs).sort(comparePrefixes),
  });
}

function takeFromOthers(
  peers: Map<PublicKey, PeerStatus>,
  owner: PublicKey,
  texts: ReadonlySet<string>,
): void {
  for (const [key, peer] of peers) {
    if (key === owner || !peer.allowedIPs.some((prefix) => texts.has(prefix.text))) continue;
    peers.set(key, { ...peer, allowedIPs: peer.allowedIPs.filter((prefix) => !texts.has(prefix.text)) });
  }
}

function newPeer(publicKey: PublicKey): PeerStatus {
  return {
    publicKey,
    presharedKey: undefined,
    endpoint: undefined,
    allowedIPs: [],
    persistentKeepalive: 0,
    latestHandshake: 0,
    receivedBytes: 0,
    sentBytes: 0,
  };
}
