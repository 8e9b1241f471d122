/** What kind of address it is: who can reach it. */
import type { Address } from "./address.ts";
import { containsAddress, type Prefix, parsePrefix } from "./prefix.ts";

/**
 * Addresses that never name a host to others: unspecified, loopback, link-local, multicast, broadcast (report K-24), and IPv4-mapped
 * ones (RFC 4291 §2.5.5.2), which stand for an IPv4 address inside one host and are on no wire.
 */
const LOCAL = prefixes(
  "0.0.0.0/8",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "255.255.255.255/32",
  "::/127",
  "::ffff:0:0/96",
  "fe80::/10",
  "ff00::/8",
);

/**
 * Private by RFC 1918 and RFC 4193, carrier-grade NAT (RFC 6598), benchmarking (RFC 2544): report K-31; and IPv4's reserved class E
 * (RFC 1112), which no Internet router carries.
 */
const NOT_PUBLIC = prefixes(
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "198.18.0.0/15",
  "240.0.0.0/4",
  "fc00::/7",
);

/** What Kilo calls private (kilo.md §4): contract where a leader is chosen in a mixed mesh. */
const KILO_PRIVATE = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/16");

/** Whether no other host can reach this address, or it names no single host. */
export function isLocal(address: Address): boolean {
  return LOCAL.some((prefix) => containsAddress(prefix, address));
}

/** Whether the address can be reached across the Internet. Addresses for documentation count as public: they stand for such. */
export function isPublic(address: Address): boolean {
  return !isLocal(address) && !NOT_PUBLIC.some((prefix) => containsAddress(prefix, address));
}

/** Kilo's own judgement, which differs for 100.64.0.0/10, 198.18.0.0/15 and most of fc00::/7, and knows no local ones (kilo.md §4, B15). */
export function isPublicForKilo(address: Address): boolean {
  return !KILO_PRIVATE.some((prefix) => containsAddress(prefix, address));
}

function prefixes(...texts: readonly string[]): Prefix[] {
  return texts.map((text) => {
    const prefix = parsePrefix(text);
    if (prefix === undefined) throw new Error(`cannot build the table of classes: not a prefix (${text})`);
    return prefix;
  });
}
