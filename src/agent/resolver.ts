/**
 * Names of endpoints, resolved in the background. Asking never waits: the last good answer counts until there is a better one, so that
 * one dead name or a dead DNS server stops nobody (promise 4, B8; report K-13).
 */
import { type Address, compareAddresses, parseAddress } from "../ip/index.ts";

/** How long an answer is trusted before it is asked for again: as Kilo, whose node names are resolved anew about every 30 s. */
const REFRESH_MS = 30_000;

/** Ceiling of the pause after a failure, doubling up to the longest; full jitter in its upper half, so that dead names do not come together. */
const RETRY_MS = 5_000;
const RETRY_LONGEST_MS = 60_000;

/**
 * An answer without the address in use is asked for again after this, and only a second one moves the tunnel: a name that gives another
 * one of its addresses each time must not move it with every answer.
 */
const CONFIRM_MS = 2_000;

/** Bound of names kept. More come only from many thousands of Peers with names; those beyond it stay unresolved. */
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
  /** Milliseconds of a clock that nobody sets. @default performance.now */
  readonly now?: (() => number) | undefined;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
}

interface Entry {
  addresses: readonly Address[];
  nextLookup: number;
  lastAsked: number;
  failures: number;
  /** The last answer did not have the address in use. */
  doubted: boolean;
  queued: boolean;
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
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #entries = new Map<string, Entry>();
  #last: Promise<void> = Promise.resolve();

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#random = options.random ?? Math.random;
  }

  resolve(name: string): readonly Address[] {
    const entry = this.#entries.get(name) ?? this.#remember(name);
    if (entry === undefined) return [];
    entry.lastAsked = this.#now();
    this.#lookUpWhenDue(name, entry);
    return entry.addresses;
  }

  refresh(): void {
    const now = this.#now();
    for (const [name, entry] of this.#entries) {
      if (now - entry.lastAsked > FORGET_MS) this.#entries.delete(name);
      else this.#lookUpWhenDue(name, entry);
    }
  }

  #remember(name: string): Entry | undefined {
    if (this.#entries.size >= MOST_NAMES) return undefined;
    const entry: Entry = {
      addresses: [],
      nextLookup: this.#now(),
      lastAsked: 0,
      failures: 0,
      doubted: false,
      queued: false,
    };
    this.#entries.set(name, entry);
    return entry;
  }

  /** One look-up at a time: the system's resolver has few threads, and the API server's own name waits for the same ones. */
  #lookUpWhenDue(name: string, entry: Entry): void {
    if (entry.queued || this.#now() < entry.nextLookup) return;
    entry.queued = true;
    this.#last = this.#last.then(() => this.#lookUp(name, entry));
  }

  async #lookUp(name: string, entry: Entry): Promise<void> {
    try {
      const texts = await this.#options.lookup(name);
      this.#answered(name, entry, texts);
    } catch (error) {
      this.#failed(name, entry, error);
    }
    entry.queued = false;
  }

  /** Keeps an address that is still among the answers in front, whatever their order. */
  #answered(name: string, entry: Entry, texts: readonly string[]): void {
    const addresses = texts.map(parseAddress).filter((address) => address !== undefined);
    if (addresses.length === 0) throw new Error("the answer holds no address");
    addresses.sort(compareAddresses);
    entry.failures = 0;
    const used = entry.addresses[0];
    const current = addresses.find((address) => address.text === used?.text);
    if (used !== undefined && current === undefined && !entry.doubted) {
      entry.doubted = true;
      entry.nextLookup = this.#now() + CONFIRM_MS;
      return;
    }
    entry.doubted = false;
    entry.addresses =
      current === undefined ? addresses : [current, ...addresses.filter((address) => address !== current)];
    entry.nextLookup = this.#now() + REFRESH_MS;
    if (current === undefined) this.#options.onChange(name);
  }

  #failed(name: string, entry: Entry, error: unknown): void {
    const ceiling = Math.min(RETRY_LONGEST_MS, RETRY_MS * 2 ** entry.failures);
    entry.nextLookup = this.#now() + (ceiling * (1 + this.#random())) / 2;
    if (entry.failures === 0) this.#options.onFailure(name, error);
    entry.failures += 1;
  }
}
