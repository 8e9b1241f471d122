/** Prefixes (CIDR) in canonical form, and addresses that carry the length of the network they are in. */
import {
  type Address,
  compareAddresses,
  type Family,
  familyBits,
  makeAddress,
  parseAddress,
} from "./address.ts";

/** A network. Host bits are always zero, so two prefixes are equal exactly when their texts are. */
export interface Prefix {
  readonly family: Family;
  readonly base: Address;
  readonly length: number;
  readonly text: string;
}

/** An address as it stands on an interface: host bits kept, e.g. `10.0.0.5/24`. */
export interface InterfaceAddress {
  readonly address: Address;
  readonly length: number;
  readonly text: string;
}

/** Parses `address/length` and clears the host bits; undefined when the text is not a CIDR. */
export function parsePrefix(text: string): Prefix | undefined {
  const parsed = parseInterfaceAddress(text);
  return parsed === undefined ? undefined : makePrefix(parsed.address, parsed.length);
}

/** Parses `address/length` and keeps the host bits; undefined when the text is not a CIDR. */
export function parseInterfaceAddress(text: string): InterfaceAddress | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const address = parseAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const length = Number(digits);
  if (length > familyBits(address.family)) return undefined;
  return interfaceAddress(address, length);
}

/**
 * An address on a network of this length.
 * @throws RangeError when the family has no such length: a fault of the caller, never of input
 */
export function interfaceAddress(address: Address, length: number): InterfaceAddress {
  checkLength(address, length);
  return { address, length, text: `${address.text}/${length}` };
}

/**
 * The network of `length` bits around an address.
 * @throws RangeError when the family has no such length: a fault of the caller, never of input
 */
export function makePrefix(address: Address, length: number): Prefix {
  checkLength(address, length);
  const shift = BigInt(familyBits(address.family) - length);
  const base = makeAddress(address.family, (address.value >> shift) << shift);
  return { family: address.family, base, length, text: `${base.text}/${length}` };
}

/** The prefix that holds only this address: /32 or /128. */
export function hostPrefix(address: Address): Prefix {
  return makePrefix(address, familyBits(address.family));
}

/** The network an interface address is in. */
export function networkOf(address: InterfaceAddress): Prefix {
  return makePrefix(address.address, address.length);
}

/** The last address of a prefix (the broadcast address of an IPv4 network). */
export function lastAddress(prefix: Prefix): Address {
  return makeAddress(prefix.family, lastValue(prefix));
}

/** The address `offset` (a whole number) after the base; undefined when that lies outside the prefix. */
export function addressAt(prefix: Prefix, offset: number): Address | undefined {
  const value = prefix.base.value + BigInt(offset);
  return offset < 0 || value > lastValue(prefix) ? undefined : makeAddress(prefix.family, value);
}

/** Whether an address lies in a prefix. */
export function containsAddress(prefix: Prefix, address: Address): boolean {
  if (prefix.family !== address.family) return false;
  return address.value >= prefix.base.value && address.value <= lastValue(prefix);
}

/** Whether `outer` holds the whole of `inner` (also when they are equal). */
export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  return outer.length <= inner.length && containsAddress(outer, inner.base);
}

/** Whether two prefixes share an address, which means that one contains the other. */
export function overlaps(a: Prefix, b: Prefix): boolean {
  return containsPrefix(a, b) || containsPrefix(b, a);
}

/** IPv4 before IPv6, then by base address, then the wider prefix first: a prefix stands before everything inside it. */
export function comparePrefixes(a: Prefix, b: Prefix): number {
  return compareAddresses(a.base, b.base) || a.length - b.length;
}

function checkLength(address: Address, length: number): void {
  if (Number.isInteger(length) && length >= 0 && length <= familyBits(address.family)) return;
  throw new RangeError(`cannot make a prefix of ${address.text}: no such length (${length})`);
}

function lastValue(prefix: Prefix): bigint {
  const hostBits = BigInt(familyBits(prefix.family) - prefix.length);
  return prefix.base.value + (1n << hostBits) - 1n;
}
