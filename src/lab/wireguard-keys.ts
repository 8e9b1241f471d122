/** WireGuard key pairs for external peers of the lab. */
import { generateKeyPairSync } from "node:crypto";

/** Both in base64, as `wg` reads and prints them. */
export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** A new random key pair. */
export function generateKeyPair(): KeyPair {
  const { d, x } = generateKeyPairSync("x25519").privateKey.export({ format: "jwk" });
  return { privateKey: toBase64(d), publicKey: toBase64(x) };
}

function toBase64(part: string | undefined): string {
  return Buffer.from(part ?? "", "base64url").toString("base64");
}
