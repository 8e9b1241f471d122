/** Reading and writing netlink's bytes: host byte order, attributes padded to four bytes (RFC 3549, linux/netlink.h). */
import { endianness } from "node:os";

/** The order of numbers in netlink headers and most attributes. */
const LITTLE = endianness() === "LE";

/** An attribute's type without the flags for "nested" and "network byte order". */
const TYPE_MASK = 0x3fff;
const NESTED = 0x8000;
const ATTRIBUTE_HEADER = 4;

/** A buffer that grows. Numbers are written in host byte order unless the name says otherwise. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written so far. A view: written on, it may go stale. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  u8(value: number): this {
    const at = this.#advance(1);
    this.#view.setUint8(at, value);
    return this;
  }

  u16(value: number): this {
    const at = this.#advance(2);
    this.#view.setUint16(at, value, LITTLE);
    return this;
  }

  u32(value: number): this {
    const at = this.#advance(4);
    this.#view.setUint32(at, value, LITTLE);
    return this;
  }

  /** In network byte order. */
  u16be(value: number): this {
    const at = this.#advance(2);
    this.#view.setUint16(at, value);
    return this;
  }

  /** In network byte order. */
  u32be(value: number): this {
    const at = this.#advance(4);
    this.#view.setUint32(at, value);
    return this;
  }

  raw(bytes: Uint8Array): this {
    const at = this.#advance(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  /** Zeros up to the next multiple of four. */
  pad(): this {
    this.#advance((4 - (this.#length % 4)) % 4);
    return this;
  }

  attribute(type: number, bytes: Uint8Array): this {
    this.u16(ATTRIBUTE_HEADER + bytes.length).u16(type);
    return this.raw(bytes).pad();
  }

  attributeU8(type: number, value: number): this {
    this.u16(ATTRIBUTE_HEADER + 1).u16(type);
    return this.u8(value).pad();
  }

  attributeU16(type: number, value: number): this {
    this.u16(ATTRIBUTE_HEADER + 2).u16(type);
    return this.u16(value).pad();
  }

  attributeU32(type: number, value: number): this {
    this.u16(ATTRIBUTE_HEADER + 4).u16(type);
    return this.u32(value);
  }

  /** A text with its closing zero. */
  attributeText(type: number, text: string): this {
    return this.attribute(type, new TextEncoder().encode(`${text}\0`));
  }

  /** An attribute whose content `write` writes. */
  nested(type: number, write: (into: this) => void): this {
    const start = this.#length;
    this.u16(0).u16(type | NESTED);
    write(this);
    this.#view.setUint16(start, this.#length - start, LITTLE);
    return this.pad();
  }

  /** Overwrites a number that was written before: for lengths known only at the end. */
  patchU32(at: number, value: number): void {
    this.#view.setUint32(at, value, LITTLE);
  }

  #advance(count: number): number {
    const at = this.#length;
    const needed = at + count;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#length = needed;
    return at;
  }
}

export interface Attribute {
  readonly type: number;
  /** A view into the message. */
  readonly data: Uint8Array;
}

/** All attributes in order. Stops at the first whose length cannot be: what came before it is returned. */
export function listAttributes(bytes: Uint8Array): Attribute[] {
  const found: Attribute[] = [];
  const view = viewOf(bytes);
  let at = 0;
  while (at + ATTRIBUTE_HEADER <= bytes.length) {
    const length = view.getUint16(at, LITTLE);
    if (length < ATTRIBUTE_HEADER || at + length > bytes.length) break;
    const type = view.getUint16(at + 2, LITTLE) & TYPE_MASK;
    found.push({ type, data: bytes.subarray(at + ATTRIBUTE_HEADER, at + length) });
    at += align(length);
  }
  return found;
}

/** Attributes by type; of several with one type the last counts, as in the kernel. */
export function readAttributes(bytes: Uint8Array): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>();
  for (const { type, data } of listAttributes(bytes)) found.set(type, data);
  return found;
}

/** A number of 32 bits; undefined when there are fewer bytes. */
export function readU32(bytes: Uint8Array | undefined, at = 0): number | undefined {
  if (bytes === undefined || at + 4 > bytes.length) return undefined;
  return viewOf(bytes).getUint32(at, LITTLE);
}

/** A signed number of 32 bits; undefined when there are fewer bytes. */
export function readI32(bytes: Uint8Array | undefined, at = 0): number | undefined {
  if (bytes === undefined || at + 4 > bytes.length) return undefined;
  return viewOf(bytes).getInt32(at, LITTLE);
}

/** A number of 16 bits; undefined when there are fewer bytes. */
export function readU16(bytes: Uint8Array | undefined, at = 0): number | undefined {
  if (bytes === undefined || at + 2 > bytes.length) return undefined;
  return viewOf(bytes).getUint16(at, LITTLE);
}

/** A number of 64 bits; undefined when there are fewer bytes. */
export function readU64(bytes: Uint8Array | undefined, at = 0): bigint | undefined {
  if (bytes === undefined || at + 8 > bytes.length) return undefined;
  return viewOf(bytes).getBigUint64(at, LITTLE);
}

/** A text up to its closing zero. */
export function readText(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** Rounds up to a multiple of four. */
export function align(length: number): number {
  return (length + 3) & ~3;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
