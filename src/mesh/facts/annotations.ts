/** Names of the annotations (kilo.md §2.1) and how their texts are read. A reader answers undefined for what it cannot read. */
import {
  type InterfaceAddress,
  interfaceAddress,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "../../ip/index.ts";
import { ANNOTATION_PREFIX } from "../names.ts";
import type { NodeObject } from "../objects.ts";
import type { Granularity } from "../options.ts";

export const ANNOTATIONS = {
  endpoint: `${ANNOTATION_PREFIX}endpoint`,
  forceEndpoint: `${ANNOTATION_PREFIX}force-endpoint`,
  internalIP: `${ANNOTATION_PREFIX}internal-ip`,
  forceInternalIP: `${ANNOTATION_PREFIX}force-internal-ip`,
  key: `${ANNOTATION_PREFIX}key`,
  lastSeen: `${ANNOTATION_PREFIX}last-seen`,
  leader: `${ANNOTATION_PREFIX}leader`,
  location: `${ANNOTATION_PREFIX}location`,
  persistentKeepalive: `${ANNOTATION_PREFIX}persistent-keepalive`,
  wireguardIP: `${ANNOTATION_PREFIX}wireguard-ip`,
  discoveredEndpoints: `${ANNOTATION_PREFIX}discovered-endpoints`,
  allowedLocationIPs: `${ANNOTATION_PREFIX}allowed-location-ips`,
  granularity: `${ANNOTATION_PREFIX}granularity`,
  cniCompatibilityIP: `${ANNOTATION_PREFIX}cni-compatibility-ip`,
} as const;

/** WireGuard's keepalive is an unsigned 16-bit number of seconds. */
const LONGEST_KEEPALIVE = 65_535;

/** The annotations of a node; a node without any has an empty set (report S-07). */
export function annotationsOf(node: NodeObject): Readonly<Record<string, string>> {
  return node.metadata.annotations ?? {};
}

/** Unix seconds in decimal; 0 for anything else, as Kilo reads it. */
function readUnixSeconds(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** The `last-seen` of a node in Unix seconds; 0 for none. */
export function lastSeenOf(node: NodeObject | undefined): number {
  return node === undefined ? 0 : readUnixSeconds(annotationsOf(node)[ANNOTATIONS.lastSeen]);
}

/** Whole seconds, 0..65535. */
export function readKeepalive(text: string): number | undefined {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return seconds <= LONGEST_KEEPALIVE ? seconds : undefined;
}

/** Comma-separated prefixes, blanks around them allowed (report S-03): what can be read, and the entries that cannot. */
export function readPrefixList(text: string): { prefixes: Prefix[]; invalid: string[] } {
  const prefixes: Prefix[] = [];
  const invalid: string[] = [];
  for (const entry of text.split(",").map((part) => part.trim())) {
    const prefix = parsePrefix(entry);
    if (prefix !== undefined) prefixes.push(prefix);
    else if (entry !== "") invalid.push(entry);
  }
  return { prefixes, invalid };
}

/** A bare address as an interface address of its full length (report K-30). */
export function readBareAddress(text: string): InterfaceAddress | undefined {
  const address = parseAddress(text);
  return address && interfaceAddress(address, address.family === 4 ? 32 : 128);
}

/** `location`, `full` or `cross`. */
export function readGranularity(text: string | undefined): Granularity | undefined {
  return text === "location" || text === "full" || text === "cross" ? text : undefined;
}

/** Whether the text of a boolean annotation says no (report S-04): `false`, `0`, `no`, in any case. */
export function saysNo(text: string): boolean {
  return /^\s*(false|0|no)\s*$/i.test(text);
}

/** Whether an override says "none" (kilo.md §2.1; reports K-07, K-29). */
export function saysNone(text: string): boolean {
  return text === "" || text === "-";
}
