/** MTU of the mesh link (kilo.md §9.3, B43). */
import type { HostFacts } from "../linux/index.ts";

/** What WireGuard adds to a packet, over IPv6: 40 + 8 + 32 bytes. Over IPv4 it is 20 less; the larger fits both. */
const OVERHEAD = 80;

/** What a link of 1500 bytes leaves; also when the underlay's MTU cannot be known. */
const USUAL = 1420;

/** Least MTU that IPv6 allows on a link (RFC 8200 §5). */
const LEAST = 1280;

/** The MTU in bytes: as told, or that of the default route's link less the overhead. The mesh link itself is never measured. */
export function meshMtu(facts: HostFacts, told: number | "auto", meshLink: string): number {
  if (told !== "auto") return told;
  const underlay = facts.defaultRoute;
  if (underlay === undefined || underlay.link === meshLink) return USUAL;
  return Math.max(LEAST, underlay.mtu - OVERHEAD);
}
