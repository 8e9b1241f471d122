/** Reads what `nft -j list table inet kilomesh` prints. Pure. */
import {
  type Address,
  type Family,
  familyBits,
  makePrefix,
  mergePrefixes,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "../../ip/index.ts";
import { type Firewall, type LinkRole, SET_NAMES, type SetName } from "../../mesh/index.ts";
import { FirewallError } from "./errors.ts";
import { type FixedChain, fixedChains, guardOf, hasIPv6, kernelSetName } from "./rules.ts";

/** One entry of a listing: `{table: …}`, `{chain: …}`, `{set: …}`, `{rule: …}`. */
export type ListingEntry = Readonly<Record<string, unknown>>;

/** The entries of nft's JSON; several commands print several documents. Throws `FirewallError` when it is none. */
export function parseListing(json: string): ListingEntry[] {
  const entries: ListingEntry[] = [];
  for (const line of json.split("\n")) {
    if (line.trim() === "") continue;
    const list = field(parseJson(line), "nftables");
    if (!Array.isArray(list))
      throw new FirewallError("FIREWALL_LISTING", "cannot read nft's listing: no list in it");
    entries.push(...list.filter(isRecord));
  }
  return entries;
}

/**
 * The firewall that a listing of the table shows; undefined when its fixed part is not one that kg writes: a rule or a chain is missing, added,
 * changed or out of order, a policy differs, the table sleeps.
 */
export function readFirewall(
  entries: readonly ListingEntry[],
  nameOf: (role: LinkRole) => string | undefined,
): Firewall | undefined {
  const table = of(entries, "table")[0];
  const sets = readSets(of(entries, "set"));
  if (table === undefined || sets === undefined || hasFlags(table)) return undefined;
  const seen = JSON.stringify(
    of(entries, "chain")
      .map((chain) => seenChain(chain, of(entries, "rule")))
      .sort(byText),
  );
  for (const role of ROLES) {
    const firewall: Firewall = { sets, remoteInternalLink: role };
    const chains = fixedChains({ ipv6: hasIPv6(firewall), guard: guardOf(role, nameOf) });
    if (JSON.stringify(chains.map(wantedChain).sort(byText)) === seen) return firewall;
  }
  return undefined;
}

/** What `remoteInternalLink` may be. */
const ROLES: readonly (LinkRole | undefined)[] = [undefined, "mesh", "private", "tunnel"];

const FAMILIES: readonly Family[] = [4, 6];

/** A chain as one text: its hook, then the comments of its rules in order. A chain without hook shows none of its attributes. */
function wantedChain({ name, hook, rules }: FixedChain): string {
  const comments = rules.map((rule) => rule.comment);
  if (hook === undefined) return JSON.stringify([name, null, null, null, null, ...comments]);
  return JSON.stringify([name, hook.type, hook.name, hook.priority, "accept", ...comments]);
}

function seenChain(chain: ListingEntry, rules: readonly ListingEntry[]): string {
  const own = rules.filter((rule) => rule.chain === chain.name);
  const head = [chain.name, chain.type, chain.hook, chain.prio, chain.policy];
  return JSON.stringify([...head, ...own.map((rule) => rule.comment ?? "")]);
}

/** Undefined when a set is missing, foreign, of another kind, or holds something that is no address. */
function readSets(entries: readonly ListingEntry[]): Record<SetName, readonly Prefix[]> | undefined {
  if (entries.length !== SET_NAMES.length * FAMILIES.length) return undefined;
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const sets: [SetName, readonly Prefix[]][] = [];
  for (const name of SET_NAMES) {
    const both = FAMILIES.map((family) => readSet(byName.get(kernelSetName(name, family)), family));
    if (both.includes(undefined)) return undefined;
    sets.push([name, mergePrefixes(both.flatMap((prefixes) => prefixes ?? []))]);
  }
  return Object.fromEntries(sets) as Record<SetName, readonly Prefix[]>;
}

function readSet(entry: ListingEntry | undefined, family: Family): Prefix[] | undefined {
  if (entry === undefined || entry.type !== (family === 4 ? "ipv4_addr" : "ipv6_addr")) return undefined;
  if (JSON.stringify(entry.flags) !== '["interval"]') return undefined;
  const elements = entry.elem ?? [];
  if (!Array.isArray(elements)) return undefined;
  const prefixes: Prefix[] = [];
  for (const element of elements) {
    const read = readElement(element, family);
    if (read === undefined) return undefined;
    prefixes.push(...read);
  }
  return prefixes;
}

/** An address, a prefix, a range, or one of those wrapped because it carries a comment, a counter or a timeout. */
function readElement(element: unknown, family: Family): Prefix[] | undefined {
  if (typeof element === "string") return readPrefix(`${element}/${familyBits(family)}`, family);
  const prefix = field(element, "prefix");
  if (prefix !== undefined)
    return readPrefix(`${String(field(prefix, "addr"))}/${String(field(prefix, "len"))}`, family);
  const range = field(element, "range");
  if (Array.isArray(range)) return readRange(range, family);
  const wrapped = field(field(element, "elem"), "val");
  return wrapped === undefined ? undefined : readElement(wrapped, family);
}

function readPrefix(text: string, family: Family): Prefix[] | undefined {
  const prefix = parsePrefix(text);
  return prefix?.family === family ? [prefix] : undefined;
}

function readRange(range: readonly unknown[], family: Family): Prefix[] | undefined {
  const first = parseAddress(String(range[0]));
  const last = parseAddress(String(range[1]));
  if (first?.family !== family || last?.family !== family) return undefined;
  return prefixesOfRange(first, last);
}

/** The fewest prefixes that cover a range: from its first address always the widest that fits. */
function prefixesOfRange(first: Address, last: Address): Prefix[] {
  const bits = familyBits(first.family);
  const prefixes: Prefix[] = [];
  let at = first.value;
  while (at <= last.value) {
    let size = 0;
    while (size < bits && at % (2n << BigInt(size)) === 0n && at + (2n << BigInt(size)) - 1n <= last.value)
      size++;
    prefixes.push(makePrefix({ ...first, value: at }, bits - size));
    at += 1n << BigInt(size);
  }
  return prefixes;
}

/** A table with the flag `dormant` does nothing. */
function hasFlags(table: ListingEntry): boolean {
  const flags = table.flags;
  return flags !== undefined && flags !== null && String(flags) !== "";
}

/** All entries of one kind. */
export function of(entries: readonly ListingEntry[], kind: string): ListingEntry[] {
  return entries.map((entry) => entry[kind]).filter(isRecord);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FirewallError("FIREWALL_LISTING", "cannot read nft's listing: it is no JSON", cause);
  }
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isRecord(value: unknown): value is ListingEntry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
