/**
 * IP addresses: strict parsing, one canonical text, total order.
 *
 * Only the usual spellings are accepted: dotted quads without leading zeros, and RFC 4291 text for IPv6.
 * Octal, hexadecimal, short forms and zones are refused, because tools disagree on what they mean.
 */

export type Family = 4 | 6;

/** The upper 96 bits of an IPv4-mapped IPv6 address, `::ffff:0:0/96` (RFC 4291 §2.5.5.2). */
const MAPPED = 0xffffn;

/** An address. `text` is canonical (RFC 5952 for IPv6), so two addresses are equal exactly when their texts are. */
export interface Address {
  readonly family: Family;
  readonly value: bigint;
  readonly text: string;
}

/** Number of bits of an address of this family. */
export function familyBits(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

/** Parses an address; undefined when the text is not one. An IPv4-mapped IPv6 address stays IPv6. */
export function parseAddress(text: string): Address | undefined {
  const v4 = parseV4(text);
  if (v4 !== undefined) return makeAddress(4, BigInt(v4));
  const v6 = parseV6(text);
  return v6 === undefined ? undefined : makeAddress(6, v6);
}

/**
 * Builds an address from its number.
 * @throws RangeError when the value does not fit the family: a fault of the caller, never of input
 */
export function makeAddress(family: Family, value: bigint): Address {
  if (value < 0n || value >> BigInt(familyBits(family)) !== 0n) {
    throw new RangeError(`cannot make an IPv${family} address: out of range (${value})`);
  }
  const text = family === 4 ? formatV4(Number(value)) : formatV6(value);
  return { family, value, text };
}

/** Reads 4 or 16 bytes in network order; undefined for any other length. */
export function addressFromBytes(bytes: Uint8Array): Address | undefined {
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return makeAddress(bytes.length === 4 ? 4 : 6, value);
}

/** 4 or 16 bytes in network order. */
export function addressToBytes(address: Address): Uint8Array {
  const bytes = new Uint8Array(familyBits(address.family) / 8);
  let value = address.value;
  for (let i = bytes.length - 1; i >= 0; i--) {
    bytes[i] = Number(value & 0xffn);
    value >>= 8n;
  }
  return bytes;
}

/** IPv4 before IPv6, then by number. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

function parseV4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  let value = 0;
  for (const part of match.slice(1)) {
    if (part.length > 1 && part.startsWith("0")) return undefined;
    const byte = Number(part);
    if (byte > 255) return undefined;
    value = value * 256 + byte;
  }
  return value;
}

function parseV6(text: string): bigint | undefined {
  if (!text.includes(":") || text.length > 45) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? "", true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** Groups between colons; the last one may be a dotted quad, where `quadAllowed`. */
function parseGroups(text: string, quadAllowed: boolean): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const quad = quadAllowed && index === parts.length - 1 ? parseV4(part) : undefined;
    if (quad === undefined) return undefined;
    groups.push(Math.floor(quad / 65536), quad % 65536);
  }
  return groups;
}

function formatV4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups shortened; IPv4-mapped with a dotted quad (§5). */
function formatV6(value: bigint): string {
  if (value >> 32n === MAPPED) return `::ffff:${formatV4(Number(value & 0xffffffffn))}`;
  const groups: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(Number((value >> shift) & 0xffffn));
  let start = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let run = 0;
    while (i + run < 8 && groups[i + run] === 0) run++;
    if (run > length) {
      start = i;
      length = run;
    }
  }
  const hex = groups.map((group) => group.toString(16));
  if (start < 0) return hex.join(":");
  return `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}
