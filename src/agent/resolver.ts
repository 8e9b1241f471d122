/**
 * Names of endpoints, resolved in the background. Asking never waits: the last good answer counts until there is a better one, so that
 * one dead name or a dead DNS server stops nobody (promise 4, B8; report K-13).
 */
import { type Address, compareAddresses, parseAddress } from "../ip/index.ts";

/** How long an answer is trusted before it is asked for again: as Kilo, whose node names are resolved anew about every 30 s. */
const REFRESH_MS = 30_000;

/** A name that failed is asked for again sooner, but not so often that a dead DNS server is hammered. */
const RETRY_MS = 5_000;

/** Bound of names kept; more come only from thousands of Peers with names, and then the oldest unused are dropped. */
const MOST_NAMES = 10_000;

/** Names that nobody asked for during this time are forgotten. */
const FORGET_MS = 10 * 60_000;

export interface ResolverOptions {
  /** All addresses of a name, as text. Rejects when there are none. */
  readonly lookup: (name: string) => Promise<readonly string[]>;
  /** The answer for a name differs from the one before. */
  readonly onChange: (name: string) => void;
  /** A name cannot be resolved (once per spell of failures). */
  readonly onFailure: (name: string, error: unknown) => void;
}

interface Entry {
  addresses: readonly Address[];
  nextLookup: number;
  lastAsked: number;
  failing: boolean;
  pending: boolean;
}

export interface Resolver {
  /** The last known addresses, lowest first; empty while unknown. Starts a look-up when one is due. */
  resolve(name: string): readonly Address[];
  /** Looks up what is due; call it from time to time so that changes are noticed while nothing else happens. */
  refresh(): void;
}

export function createResolver(options: ResolverOptions): Resolver {
  return new BackgroundResolver(options);
}

class BackgroundResolver implements Resolver {
  readonly #options: ResolverOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  resolve(name: string): readonly Address[] {
    const entry = this.#entries.get(name) ?? this.#remember(name);
    entry.lastAsked = Date.now();
    this.#lookUpWhenDue(name, entry);
    return entry.addresses;
  }

  refresh(): void {
    const now = Date.now();
    for (const [name, entry] of this.#entries) {
      if (now - entry.lastAsked > FORGET_MS) this.#entries.delete(name);
      else this.#lookUpWhenDue(name, entry);
    }
  }

  #remember(name: string): Entry {
    if (this.#entries.size >= MOST_NAMES) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    const entry: Entry = { addresses: [], nextLookup: 0, lastAsked: 0, failing: false, pending: false };
    this.#entries.set(name, entry);
    return entry;
  }

  #lookUpWhenDue(name: string, entry: Entry): void {
    if (entry.pending || Date.now() < entry.nextLookup) return;
    entry.pending = true;
    this.#options
      .lookup(name)
      .then((texts) => this.#answered(name, entry, texts))
      .catch((error: unknown) => this.#failed(name, entry, error))
      .finally(() => {
        entry.pending = false;
      });
  }

  /**
   * Keeps an address that is still among the answers in front: a name with many addresses, or one that answers in another order each
   * time, must not move the tunnel.
   */
  #answered(name: string, entry: Entry, texts: readonly string[]): void {
    const addresses = texts.map(parseAddress).filter((address) => address !== undefined);
    if (addresses.length === 0) throw new Error("the answer holds no address");
    addresses.sort(compareAddresses);
    const current = addresses.find((address) => address.text === entry.addresses[0]?.text);
    const ordered =
      current === undefined ? addresses : [current, ...addresses.filter((address) => address !== current)];
    const changed = ordered[0]?.text !== entry.addresses[0]?.text;
    entry.addresses = ordered;
    entry.failing = false;
    entry.nextLookup = Date.now() + REFRESH_MS;
    if (changed) this.#options.onChange(name);
  }

  #failed(name: string, entry: Entry, error: unknown): void {
    entry.nextLookup = Date.now() + RETRY_MS;
    if (!entry.failing) this.#options.onFailure(name, error);
    entry.failing = true;
  }
}
