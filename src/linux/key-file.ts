/** The node's WireGuard key: a file that only root can read (kilo.md §9.1), and the public key that belongs to it. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type PublicKey, publicKeyFromBytes, SecretKey } from "../wireguard/index.ts";

/** Kilo's own place, so that a node keeps its identity when the agent is exchanged. */
export const KEY_FILE = "/var/lib/kilo/key";

/**
 * - `KEY_CORRUPT`: the file holds no key. It is never replaced: a new identity cuts off every peer (B52)
 * - `KEY_OPEN`: others than its owner may read or write it
 * - `KEY_IO`: it cannot be read or written
 */
export type KeyFileErrorCode = "KEY_CORRUPT" | "KEY_OPEN" | "KEY_IO";

/** Never holds the key. */
export class KeyFileError extends Error {
  readonly code: KeyFileErrorCode;

  constructor(code: KeyFileErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "KeyFileError";
    this.code = code;
  }
}

/** A key, and whether it was made just now. */
export interface NodeKey {
  readonly privateKey: SecretKey;
  readonly publicKey: PublicKey;
  readonly created: boolean;
}

/**
 * Reads the key; makes one (folder 0700, file 0600) when there is none. Nothing is written when the file exists, so it may be read-only
 * (report K-80); white space around the key does not matter (report K-16). Throws `KeyFileError`.
 */
export async function loadOrCreateKey(path: string = KEY_FILE): Promise<NodeKey> {
  const existing = await readKey(path);
  if (existing !== undefined)
    return { privateKey: existing, publicKey: publicKeyOf(existing), created: false };
  const privateKey = generateKey();
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeNew(path, privateKey.revealText());
  } catch (cause) {
    // Another agent was faster: its key counts.
    const theirs = hasCode(cause, "EEXIST") ? await readKey(path) : undefined;
    if (theirs !== undefined) return { privateKey: theirs, publicKey: publicKeyOf(theirs), created: false };
    throw ioError("write", path, cause);
  }
  return { privateKey, publicKey: publicKeyOf(privateKey), created: true };
}

/** The key in a file; undefined when there is no file. Throws `KeyFileError`. */
export async function readKey(path: string): Promise<SecretKey | undefined> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) throw tooOpen(path, mode);
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (cause instanceof KeyFileError) throw cause;
    if (hasCode(cause, "ENOENT")) return undefined;
    throw ioError("read", path, cause);
  }
  const key = SecretKey.parse(text);
  if (key !== undefined && !key.isZero()) return key;
  const advice = "restore it from a backup, or delete it to give this node a new identity";
  throw new KeyFileError(
    "KEY_CORRUPT",
    `cannot use key file ${path}: it does not hold a WireGuard key (${text.length} characters); ${advice}`,
  );
}

/** A new private key, from the kernel's random numbers, clamped as `wg genkey` does. */
export function generateKey(): SecretKey {
  const { d } = generateKeyPairSync("x25519").privateKey.export({ format: "jwk" });
  const bytes = Uint8Array.from(Buffer.from(d ?? "", "base64url"));
  bytes[0] = (bytes[0] ?? 0) & 248;
  bytes[31] = ((bytes[31] ?? 0) & 127) | 64;
  const key = SecretKey.fromBytes(bytes);
  if (key === undefined) throw new KeyFileError("KEY_IO", "cannot make a key: node:crypto gave none");
  return key;
}

/** PKCS #8 wrapping of a raw X25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b656e04220420", "hex");

/** The public key of a private key: X25519 with the base point (RFC 7748), as `wg pubkey`. */
export function publicKeyOf(privateKey: SecretKey): PublicKey {
  const der = Buffer.concat([PKCS8_PREFIX, privateKey.reveal()]);
  const spki = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" })).export({
    format: "der",
    type: "spki",
  });
  const key = publicKeyFromBytes(spki.subarray(-32));
  if (key === undefined)
    throw new KeyFileError("KEY_CORRUPT", "cannot derive a public key: the private key has none");
  return key;
}

/** Complete and on disk before it has its name, and never over an existing file. Without newline, as Kilo writes it. */
async function writeNew(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.${randomUUID()}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await link(draft, path);
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

function tooOpen(path: string, mode: number): KeyFileError {
  const octal = (mode & 0o777).toString(8).padStart(4, "0");
  return new KeyFileError(
    "KEY_OPEN",
    `cannot use key file ${path}: others may read or write it (mode ${octal}); run "chmod 600 ${path}"`,
  );
}

function ioError(verb: string, path: string, cause: unknown): KeyFileError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new KeyFileError("KEY_IO", `cannot ${verb} key file ${path}: ${reason}`, cause);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
