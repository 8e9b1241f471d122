/** Foreign firewalls that drop forwarded packets by default: Docker, ufw, firewalld and their like (report K-60). */
import { readFile } from "node:fs/promises";
import { NFT_TABLE } from "../../mesh/index.ts";
import { findTool } from "../tools.ts";
import { FirewallError } from "./errors.ts";
import type { ChainName } from "./foreign-watch.ts";
import { type ListingEntry, of, parseListing } from "./listing.ts";
import { firstLine, runProgram } from "./nft.ts";
import { TABLE_FAMILY } from "./rules.ts";

/** Families whose forward hook our packets pass. */
const FAMILIES = new Set(["ip", "ip6", "inet"]);

/** What a look at the firewalls of a host found. */
export interface ForeignLook {
  /** Descriptions of those that drop by default. */
  readonly drops: readonly string[];
  /** All foreign chains at the forward hook. */
  readonly chains: readonly ChainName[];
}

/** Only chains are listed, and rules of those at the forward hook: other tables may hold ten thousands. */
export async function lookForForeignDrops(nft: string): Promise<ForeignLook> {
  const listing = await runProgram(nft, ["-j", "list", "chains"], "");
  if (listing.status !== 0) {
    throw new FirewallError(
      "FIREWALL_REFUSED",
      `cannot list nftables chains: ${firstLine(listing.complaint)}`,
    );
  }
  const chains = of(parseListing(listing.output), "chain").filter(isForeignForward);
  const byPolicy = chains.filter((chain) => chain.policy === "drop");
  const others = chains.filter((chain) => chain.policy !== "drop");
  const byRule = await chainsThatEndInDrop(nft, others);
  const drops = [
    ...byPolicy.map((chain) => `${describe(chain)} (policy drop)`),
    ...byRule.map((chain) => `${describe(chain)} (its last rule drops or rejects the rest)`),
    ...(await legacyDrops()),
  ];
  return { drops, chains: chains.map(nameOf) };
}

function nameOf({ family, table, name }: ListingEntry): ChainName {
  return { family: String(family), table: String(table), chain: String(name) };
}

function isForeignForward(chain: ListingEntry): boolean {
  if (chain.hook !== "forward" || !FAMILIES.has(String(chain.family))) return false;
  return !(chain.family === TABLE_FAMILY && chain.table === NFT_TABLE);
}

function describe(chain: ListingEntry): string {
  return `table ${chain.family} ${chain.table} chain ${chain.name}`;
}

/**
 * firewalld's way: a policy of accept, and an unconditional reject at the end. One listing a chain: nft 1.0.6 cannot list several by name
 * at once.
 */
async function chainsThatEndInDrop(nft: string, chains: readonly ListingEntry[]): Promise<ListingEntry[]> {
  const found: ListingEntry[] = [];
  for (const chain of chains.slice(0, MOST_CHAINS)) {
    const words = [chain.family, chain.table, chain.name].map(String);
    const listing = await runProgram(nft, ["-j", "list", "chain", ...words], "");
    const last = listing.status === 0 ? of(parseListing(listing.output), "rule").at(-1) : undefined;
    if (last !== undefined && dropsEverything(last.expr)) found.push(chain);
  }
  return found;
}

/** Hosts have two or three such chains; a host with more than this is not worth a process for each. */
const MOST_CHAINS = 16;

/** Whether a rule has no condition and refuses. */
function dropsEverything(expressions: unknown): boolean {
  if (!Array.isArray(expressions)) return false;
  const kinds = expressions.flatMap((expression) => Object.keys(expression ?? {}));
  return (
    kinds.some((kind) => kind === "drop" || kind === "reject") &&
    kinds.every((kind) => UNCONDITIONAL.has(kind))
  );
}

const UNCONDITIONAL = new Set(["drop", "reject", "counter", "log"]);

/** Asked only where the old tables are in use already: asking makes them (report K-63). */
async function legacyDrops(): Promise<string[]> {
  const tables = await readFile("/proc/net/ip_tables_names", "utf8").catch(() => "");
  const program = findTool("iptables-legacy");
  if (!tables.split("\n").includes("filter") || program === undefined) return [];
  const { output } = await runProgram(program, ["-w", "5", "-S", "FORWARD"], "");
  return /^-P FORWARD DROP$/m.test(output)
    ? ["iptables-legacy table filter chain FORWARD (policy drop)"]
    : [];
}
