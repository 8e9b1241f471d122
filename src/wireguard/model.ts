/** WireGuard's own behaviour, as far as a configuration can tell: what a device is after a change. For in-memory devices and tests. */
import { comparePrefixes, type Prefix, uniquePrefixes } from "../ip/index.ts";
import type { DeviceChange, PeerSetting } from "./changes.ts";
import type { DeviceStatus, PeerStatus } from "./device.ts";
import { type PublicKey, someKey } from "./key.ts";

/**
 * Applies a change, in its order, as the kernel and wireguard-go do: a prefix is on one peer only and leaves the one it was on, an
 * `update` makes no peer, what is not named keeps its session and counters, private keys are clamped, and a key of zeros is none.
 * Neither argument is changed. Peers stay in the order in which they were made; each list of allowed IPs is sorted.
 */
export function applyDeviceChange(device: DeviceStatus, change: DeviceChange): DeviceStatus {
  const table = new CryptokeyTable(device.peers);
  for (const peer of change.peers) {
    if (peer.kind === "remove") table.remove(peer.publicKey);
    else table.set(peer);
  }
  const privateKey = someKey(change.privateKey ?? device.privateKey)?.clamped();
  return { privateKey, listenPort: change.listenPort ?? device.listenPort, peers: table.peers() };
}

/** Cryptokey routing (WireGuard white paper §2): peers, and for each prefix the one peer that has it. */
class CryptokeyTable {
  readonly #peers = new Map<PublicKey, PeerStatus>();
  readonly #lists = new Map<PublicKey, Map<string, Prefix>>();
  readonly #owners = new Map<string, PublicKey>();

  constructor(peers: readonly PeerStatus[]) {
    for (const peer of peers) {
      this.#peers.set(peer.publicKey, peer);
      this.#replaceList(peer.publicKey, peer.allowedIPs);
    }
  }

  peers(): PeerStatus[] {
    return [...this.#peers.values()].map((peer) => {
      const allowedIPs = [...(this.#lists.get(peer.publicKey)?.values() ?? [])].sort(comparePrefixes);
      return { ...peer, allowedIPs };
    });
  }

  remove(key: PublicKey): void {
    this.#replaceList(key, []);
    this.#lists.delete(key);
    this.#peers.delete(key);
  }

  set(setting: PeerSetting): void {
    const existing = this.#peers.get(setting.publicKey);
    if (existing === undefined && setting.kind === "update") return;
    const before = existing ?? unknownPeer(setting.publicKey);
    this.#peers.set(setting.publicKey, {
      ...before,
      presharedKey:
        setting.presharedKey === undefined ? before.presharedKey : someKey(setting.presharedKey ?? undefined),
      endpoint: setting.endpoint ?? before.endpoint,
      persistentKeepalive: setting.persistentKeepalive ?? before.persistentKeepalive,
    });
    if (setting.allowedIPs !== undefined) this.#replaceList(setting.publicKey, setting.allowedIPs);
  }

  #replaceList(key: PublicKey, prefixes: readonly Prefix[]): void {
    for (const text of this.#lists.get(key)?.keys() ?? []) this.#owners.delete(text);
    const list = new Map<string, Prefix>();
    this.#lists.set(key, list);
    for (const prefix of uniquePrefixes(prefixes)) {
      const loser = this.#owners.get(prefix.text);
      if (loser !== undefined) this.#lists.get(loser)?.delete(prefix.text);
      this.#owners.set(prefix.text, key);
      list.set(prefix.text, prefix);
    }
  }
}

function unknownPeer(publicKey: PublicKey): PeerStatus {
  return {
    publicKey,
    allowedIPs: [],
    persistentKeepalive: 0,
    latestHandshake: 0,
    receivedBytes: 0,
    sentBytes: 0,
  };
}
