/** Keys, prefixes and endpoints for the tests of this folder. */
import assert from "node:assert/strict";
import { type Prefix, parsePrefix } from "../../ip/index.ts";
import {
  type PublicKey,
  parseEndpoint,
  publicKeyFromBytes,
  SecretKey,
  type SocketEndpoint,
} from "../../wireguard/index.ts";

/** A public key of 32 equal bytes. */
export function publicKey(byte: number): PublicKey {
  const key = publicKeyFromBytes(new Uint8Array(32).fill(byte));
  assert.ok(key !== undefined);
  return key;
}

/** A secret key of 32 equal bytes. */
export function secretKey(byte: number): SecretKey {
  const key = SecretKey.fromBytes(new Uint8Array(32).fill(byte));
  assert.ok(key !== undefined);
  return key;
}

export function endpoint(text: string): SocketEndpoint {
  const parsed = parseEndpoint(text);
  assert.ok(parsed?.kind === "address");
  return parsed;
}

export function prefixes(...texts: string[]): Prefix[] {
  return texts.map((text) => {
    const prefix = parsePrefix(text);
    assert.ok(prefix !== undefined, text);
    return prefix;
  });
}
