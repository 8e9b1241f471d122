/** Keys, prefixes and peers that tests write in short. For tests only. */
import assert from "node:assert/strict";
import { type Prefix, parsePrefix } from "../ip/index.ts";
import type { DeviceConfig, DeviceStatus, PeerConfig, PeerStatus } from "./device.ts";
import { parseEndpoint, type SocketEndpoint } from "./endpoint.ts";
import { type PublicKey, publicKeyFromBytes, SecretKey } from "./key.ts";

/** The time of every test, in Unix seconds. */
export const NOW = 1_800_000_000;

/** The public key with this number; different for every whole number from 1. */
export function key(number: number): PublicKey {
  const made = publicKeyFromBytes(bytes(number));
  assert.ok(made !== undefined);
  return made;
}

/** A secret key with this number; 0 is the key of zeros. */
export function secret(number: number): SecretKey {
  const made = SecretKey.fromBytes(bytes(number));
  assert.ok(made !== undefined);
  return made;
}

export function prefixes(...texts: readonly string[]): Prefix[] {
  return texts.map((text) => {
    const prefix = parsePrefix(text);
    assert.ok(prefix !== undefined, text);
    return prefix;
  });
}

export function endpoint(text: string): SocketEndpoint {
  const parsed = parseEndpoint(text);
  assert.ok(parsed?.kind === "address", text);
  return parsed;
}

export function peer(
  number: number,
  allowedIPs: readonly string[],
  rest: Partial<PeerConfig> = {},
): PeerConfig {
  return { publicKey: key(number), allowedIPs: prefixes(...allowedIPs), persistentKeepalive: 0, ...rest };
}

export function config(...peers: readonly PeerConfig[]): DeviceConfig {
  return { listenPort: 51820, peers };
}

/** A device whose peers are these; `seen` gives what WireGuard learned of a peer, by its number in the list. */
export function status(
  peers: readonly PeerConfig[],
  seen: readonly Partial<PeerStatus>[] = [],
): DeviceStatus {
  return {
    listenPort: 51820,
    peers: peers.map((given, i) => ({
      ...given,
      latestHandshake: NOW - 10,
      receivedBytes: 4000,
      sentBytes: 5000,
      ...seen[i],
    })),
  };
}

function bytes(number: number): Uint8Array {
  const made = new Uint8Array(32);
  new DataView(made.buffer).setUint32(4, number);
  return made;
}
