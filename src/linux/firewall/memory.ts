/** The twin of kg's nftables table, in memory: for tests, and for convergence at scale without root. */
import { applyToFirewall, type Firewall, type FirewallChange } from "../../mesh/index.ts";
import type { FirewallDriver } from "../ports.ts";
import { FirewallError } from "./errors.ts";

/** A FirewallDriver without a kernel. It counts what would have been transactions, and lets a test play the other programs of a host. */
export interface MemoryFirewall extends FirewallDriver {
  /** Transactions so far: changes with content, and removals of a table that was there. */
  readonly mutations: number;
  /** Somebody else deletes the table, as `nft flush ruleset` does. */
  flushedByOthers(): void;
  /** What `foreignForwardDrops` answers from now on; told to those who watch. */
  setForeignDrops(drops: readonly string[]): void;
}

/** Makes a twin whose table is missing. */
export function createMemoryFirewall(): MemoryFirewall {
  return new FirewallInMemory();
}

class FirewallInMemory implements MemoryFirewall {
  #table: Firewall | undefined;
  #mutations = 0;
  #drops: readonly string[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #foreignListeners = new Set<() => void>();

  get mutations(): number {
    return this.#mutations;
  }

  async read(): Promise<Firewall | undefined> {
    return this.#table;
  }

  async apply(change: FirewallChange, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (change.kind === "replace") {
      this.#set({ sets: change.firewall.sets, remoteInternalLink: change.firewall.remoteInternalLink });
      return;
    }
    if (change.sets.every((set) => set.add.length === 0 && set.remove.length === 0)) return;
    if (this.#table === undefined) {
      throw new FirewallError("FIREWALL_CHANGED", "cannot change sets of the table in memory: it is missing");
    }
    this.#set(applyToFirewall(this.#table, change.sets));
  }

  async remove(): Promise<readonly string[]> {
    if (this.#table === undefined) return [];
    this.#set(undefined);
    return ["nftables table in memory"];
  }

  async foreignForwardDrops(): Promise<readonly string[]> {
    return this.#drops;
  }

  watchForeign(listener: () => void): () => void {
    this.#foreignListeners.add(listener);
    return () => this.#foreignListeners.delete(listener);
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
    this.#foreignListeners.clear();
  }

  flushedByOthers(): void {
    this.#table = undefined;
    for (const listener of this.#listeners) listener();
  }

  setForeignDrops(drops: readonly string[]): void {
    this.#drops = drops;
    for (const listener of this.#foreignListeners) listener();
  }

  #set(table: Firewall | undefined): void {
    this.#table = table;
    this.#mutations++;
  }
}
