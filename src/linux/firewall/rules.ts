/**
 * The fixed part of kg's nftables table: its chains and rules. Pure. Their number does not depend on the size of the mesh (report S-14): what grows
 * is in sets. Each rule carries a comment with a digest of its own text, by which it is known again in a listing, whatever nft's version
 * makes of its text.
 */
import { createHash } from "node:crypto";
import type { Family } from "../../ip/index.ts";
import { type Firewall, type LinkRole, SET_NAMES, type SetName } from "../../mesh/index.ts";

/** The table's family: one table for both. */
export const TABLE_FAMILY = "inet";

/** The link by which forwarded packets to other locations may leave: a name, `nowhere` when the role has no link, or no guard at all. */
export type Guard = { readonly link: string } | "nowhere" | undefined;

/** What decides the fixed part. */
export interface Shape {
  /** IPv6 has rules only while an IPv6 prefix is in a set (report K-93): else IPv6 traffic never meets a rule of kg's. */
  readonly ipv6: boolean;
  readonly guard: Guard;
}

export interface FixedChain {
  readonly name: string;
  /** Where packets enter it; undefined: nowhere. */
  readonly hook?: Hook | undefined;
  readonly rules: readonly FixedRule[];
}

export interface Hook {
  readonly type: "nat" | "filter";
  readonly name: "postrouting" | "forward";
  /** As nftables counts: lower is earlier. */
  readonly priority: number;
}

export interface FixedRule {
  /** Without the comment. */
  readonly text: string;
  readonly comment: string;
}

/** Where source addresses are rewritten (nftables' `srcnat`). */
const SOURCE_NAT_PRIORITY = 100;

/** nftables' `filter`. A drop is final whatever other chains say, so the order among them does not matter. */
const FILTER_PRIORITY = 0;

/** The chains of a table of this shape. */
export function fixedChains(shape: Shape): FixedChain[] {
  const families: Family[] = shape.ipv6 ? [4, 6] : [4];
  const postrouting: FixedChain = {
    name: "postrouting",
    hook: { type: "nat", name: "postrouting", priority: SOURCE_NAT_PRIORITY },
    rules: families.flatMap(masqueradeRules),
  };
  const { guard } = shape;
  if (guard === undefined) return [postrouting, UNGUARDED];
  const forward: FixedChain = {
    name: "forward",
    hook: { type: "filter", name: "forward", priority: FILTER_PRIORITY },
    rules: families.map((family) => guardRule(family, guard)),
  };
  return [postrouting, forward];
}

/** No packet enters it. It says that there shall be no guard, so that a table whose guard somebody deleted is not taken for that. */
const UNGUARDED: FixedChain = { name: "unguarded", rules: [] };

/** The shape that a firewall needs. */
export function shapeOf(firewall: Firewall, nameOf: (role: LinkRole) => string | undefined): Shape {
  return { ipv6: hasIPv6(firewall), guard: guardOf(firewall.remoteInternalLink, nameOf) };
}

/** The guard for a role, with the names that links have now. */
export function guardOf(role: LinkRole | undefined, nameOf: (role: LinkRole) => string | undefined): Guard {
  if (role === undefined) return undefined;
  const link = nameOf(role);
  return link === undefined ? "nowhere" : { link };
}

/** Whether any set holds an IPv6 prefix. */
export function hasIPv6(firewall: Firewall): boolean {
  return SET_NAMES.some((name) => firewall.sets[name].some((prefix) => prefix.family === 6));
}

/** The name in the kernel: sets hold one family each. */
export function kernelSetName(set: SetName, family: Family): string {
  return `${set}${family}`;
}

/**
 * Known destinations see the true source, and they come first, so that masquerading is always last (report K-57). Then own pods and external
 * peers are masqueraded to the outside. Last come packets from elsewhere to addresses of the own location, which have no way back to
 * other locations: masqueraded here, where they enter the location, and nowhere else (report K-42). Sources in the location are spared, and so is
 * whatever address this host itself sends from, e.g. a floating one: the location knows the way back to them (report K-46).
 * `fully-random`: many pods that ask one resolver at once must not race for the same port.
 */
function masqueradeRules(family: Family): FixedRule[] {
  const ip = family === 4 ? "ip" : "ip6";
  const set = (name: SetName): string => `@${kernelSetName(name, family)}`;
  return [
    rule(`${ip} daddr ${set("keep_source")} return`, "known destinations see the true source"),
    rule(
      `${ip} saddr ${set("masquerade_from")} masquerade fully-random`,
      "own pods and peers to the outside",
    ),
    rule(
      `${ip} daddr ${set("location_ips")} ${ip} saddr != ${set("location_nodes")} fib saddr . oif type != local masquerade fully-random`,
      "others to this location",
    ),
  ];
}

/** Forwarded packets only: the host itself must still reach those addresses, e.g. to send WireGuard's own packets. */
function guardRule(family: Family, guard: { readonly link: string } | "nowhere"): FixedRule {
  const ip = family === 4 ? "ip" : "ip6";
  const unless = guard === "nowhere" ? "" : ` oifname != "${guard.link}"`;
  const text = `${ip} daddr @${kernelSetName("remote_internal", family)}${unless} counter drop`;
  return rule(text, "never in clear to other locations");
}

/** Eight hex digits tell the versions of a rule apart; this is no protection against forgery. */
function rule(text: string, why: string): FixedRule {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return { text, comment: `kilomesh: ${why} [${digest}]` };
}
