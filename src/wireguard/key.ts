/** WireGuard keys. Public keys are plain text; private and preshared keys live in a type that cannot be printed. */

declare const publicKeyBrand: unique symbol;
/** A public key: canonical standard base64 of 32 bytes, not all zero. Equal keys have equal text. */
export type PublicKey = string & { readonly [publicKeyBrand]: true };

/** Base64 of 32 bytes is 44 characters that end in one `=`; the last digit carries only four bits. */
const KEY_TEXT = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const ZERO_KEY = `${"A".repeat(43)}=`;

/** Parses a public key; undefined unless it is the canonical base64 of 32 bytes that are not all zero. */
export function parsePublicKey(text: string): PublicKey | undefined {
  return KEY_TEXT.test(text) && text !== ZERO_KEY ? (text as PublicKey) : undefined;
}

/** The public key with these 32 bytes; undefined for another length or all zero. */
export function publicKeyFromBytes(bytes: Uint8Array): PublicKey | undefined {
  return bytes.length === 32 ? parsePublicKey(toBase64(bytes)) : undefined;
}

/** The 32 bytes of a public key. */
export function publicKeyToBytes(key: PublicKey): Uint8Array {
  return fromBase64(key);
}

/**
 * A private or preshared key. Printing, JSON, string concatenation and node's inspect all give `(hidden)`;
 * only `reveal()` gives the bytes, so that every place that does can be found by its name.
 */
export class SecretKey {
  readonly #bytes: Uint8Array;

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Takes 32 bytes; undefined for any other length. */
  static fromBytes(bytes: Uint8Array): SecretKey | undefined {
    return bytes.length === 32 ? new SecretKey(Uint8Array.from(bytes)) : undefined;
  }

  /** Parses base64 of 32 bytes (surrounding white space is ignored); undefined for anything else. */
  static parse(text: string): SecretKey | undefined {
    const trimmed = text.trim();
    return KEY_TEXT.test(trimmed) ? new SecretKey(fromBase64(trimmed)) : undefined;
  }

  /** The 32 bytes. For a driver, a key file or a derivation only. */
  reveal(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  /** The key as base64, for the key file and for a laptop's configuration only. */
  revealText(): string {
    return toBase64(this.#bytes);
  }

  /**
   * The private key that WireGuard makes of these bytes (clamped, RFC 7748 §5), which is what a device reads back. Compare private
   * keys in this form: a key file made by other tools may hold an unclamped one. Preshared keys are never clamped.
   */
  clamped(): SecretKey {
    const bytes = this.reveal();
    bytes[0] = (bytes[0] ?? 0) & 248;
    bytes[31] = ((bytes[31] ?? 0) & 127) | 64;
    return new SecretKey(bytes);
  }

  /** Whether both have the same bytes. Takes as long for any two keys. */
  equals(other: SecretKey | undefined): boolean {
    if (other === undefined) return false;
    let difference = 0;
    for (const [i, byte] of this.#bytes.entries()) difference |= byte ^ (other.#bytes[i] ?? 0);
    return difference === 0;
  }

  /** Whether all bytes are zero: the kernel's way to say "none". */
  isZero(): boolean {
    return this.#bytes.every((byte) => byte === 0);
  }

  toString(): string {
    return "(hidden)";
  }

  toJSON(): string {
    return "(hidden)";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "(hidden)";
  }
}

/** The key; undefined when there is none, or when it is all zero, which is how WireGuard says "none". */
export function someKey(key: SecretKey | undefined): SecretKey | undefined {
  return key?.isZero() === true ? undefined : key;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
