/**
 * When to look again for foreign firewalls that drop forwarded packets: told by nftables' own events, so that at rest no process runs.
 *
 * Only what a look would see differently counts: tables, chains at the forward hook, and rules of those. What others write all day (a
 * kube-proxy its services, CNI plugins their ports, anybody their sets) does not. The old iptables announces nothing: its policy is seen
 * with the next look.
 */
import { type NetlinkMessage, readAttributes, readText } from "../netlink/index.ts";
import {
  NFGENMSG_LENGTH,
  NFT_MSG_DELCHAIN,
  NFT_MSG_DELRULE,
  NFT_MSG_DELTABLE,
  NFT_MSG_NEWCHAIN,
  NFT_MSG_NEWRULE,
  NFT_MSG_NEWTABLE,
} from "./events.ts";

/** Docker and firewalld write some dozens of transactions within a second of their start: one look at what they came to. */
const PAUSE_MS = 2_000;

/** linux/netfilter.h: the families whose forward hook our packets pass, as nft's listing names them. */
const FAMILIES = new Map([
  [1, "inet"],
  [2, "ip"],
  [10, "ip6"],
]);

/** Attributes (linux/netfilter/nf_tables.h). */
const RULE_CHAIN = 2;
const CHAIN_NAME = 3;
const CHAIN_HOOK = 4;
const TABLE_NAME = 1;
const HOOK_NUMBER = 1;
const NF_INET_FORWARD = 2;

/** A chain, as nft's listing names it. */
export interface ChainName {
  readonly family: string;
  readonly table: string;
  readonly chain: string;
}

export class ForeignWatch {
  readonly #listeners = new Set<() => void>();
  /** Chains at the forward hook that the last look found. */
  #known = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** Calls the listener, a moment after the first of several events, until the function that is returned is called. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A look found these foreign chains at the forward hook: their rules matter from now on. */
  found(chains: readonly ChainName[]): void {
    this.#known = new Set(chains.map(keyOf));
  }

  /** An event of nftables about a table that is not ours. */
  take(message: NetlinkMessage): void {
    if (this.#matters(message)) this.changed();
  }

  /** Something changed, or events were lost. */
  changed(): void {
    if (this.#listeners.size === 0) return;
    this.#timer ??= setTimeout(() => this.#tell(), PAUSE_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#listeners.clear();
  }

  #tell(): void {
    this.#timer = undefined;
    for (const listener of this.#listeners) listener();
  }

  #matters({ type, payload }: NetlinkMessage): boolean {
    const family = FAMILIES.get(payload[0] ?? 0);
    if (family === undefined) return false;
    const attributes = readAttributes(payload.subarray(NFGENMSG_LENGTH));
    const isKnown = (name: number): boolean => {
      const table = readText(attributes.get(TABLE_NAME)) ?? "";
      return this.#known.has(keyOf({ family, table, chain: readText(attributes.get(name)) ?? "" }));
    };
    switch (type & 0xff) {
      case NFT_MSG_NEWTABLE:
      case NFT_MSG_DELTABLE:
        return true;
      case NFT_MSG_NEWCHAIN:
      case NFT_MSG_DELCHAIN:
        return isForwardHook(attributes.get(CHAIN_HOOK)) || isKnown(CHAIN_NAME);
      case NFT_MSG_NEWRULE:
      case NFT_MSG_DELRULE:
        return isKnown(RULE_CHAIN);
      default:
        return false;
    }
  }
}

/** nfnetlink writes numbers in network order. */
function isForwardHook(hook: Uint8Array | undefined): boolean {
  const number = hook === undefined ? undefined : readAttributes(hook).get(HOOK_NUMBER);
  return number?.length === 4 && number[3] === NF_INET_FORWARD;
}

function keyOf({ family, table, chain }: ChainName): string {
  return `${family} ${table} ${chain}`;
}
