/** Peers of a device for tests: key and endpoint are made of a number. */
import { makeAddress } from "../ip/index.ts";
import { type PeerStatus, type PublicKey, publicKeyFromBytes, socketEndpoint } from "../wireguard/index.ts";

export function peer(n: number, latestHandshake: number): PeerStatus {
  return {
    publicKey: key(n),
    endpoint: at(n),
    allowedIPs: [],
    persistentKeepalive: 0,
    latestHandshake,
    receivedBytes: 0,
    sentBytes: 0,
  };
}

/** Address number n, port 51820. */
export function at(n: number) {
  return socketEndpoint(makeAddress(4, BigInt(n)), 51820);
}

/** 32 bytes of n. */
export function key(n: number): PublicKey {
  const parsed = publicKeyFromBytes(new Uint8Array(32).fill(n));
  if (parsed === undefined) throw new RangeError(`cannot make a key of ${n}`);
  return parsed;
}
