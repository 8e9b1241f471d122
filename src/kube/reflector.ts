/** Keeps a complete picture of one resource: list, then watch, and again whenever the server forgets where we were. */
import { backoff } from "./backoff.ts";
import { DEFAULT_PAGE_SIZE } from "./client.ts";
import { type Clock, pause, systemClock } from "./clock.ts";
import { isExpired, StatusError } from "./errors.ts";
import { NoWatchList, watchSilence } from "./initial-silence.ts";
import { Kept } from "./kept.ts";
import type { KubeObject, RawObject, WatchEvent } from "./objects.ts";
import type { Reflector, ReflectorOptions, ReflectorStatus } from "./reflector-options.ts";

/** Watches are ended by the server after a random time in here, so that a restarted server gets its clients spread again. */
const SHORTEST_WATCH_SECONDS = 300;
const LONGEST_WATCH_SECONDS = 600;

/** A watch that ends sooner than this counts as a failure, else a server that accepts and closes would be asked without pause. */
const HEALTHY_WATCH_MS = 5_000;

/** A list that expires between two pages is asked for again in larger pages: fewer of them, so it ends sooner. */
const PAGE_GROWTH = 4;

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** Makes a reflector; nothing runs before `start`. */
export function createReflector<T, Raw extends KubeObject = RawObject>(
  options: ReflectorOptions<T, Raw>,
): Reflector<T> {
  return new ListWatchReflector(options);
}

class ListWatchReflector<T, Raw extends KubeObject> implements Reflector<T> {
  readonly #options: ReflectorOptions<T, Raw>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #kept: Kept<T, Raw>;
  #watchList: boolean;
  /** Where the watch goes on; undefined: a list is needed. */
  #resourceVersion: string | undefined;
  #connected = false;
  #run: { abort: AbortController; done: Promise<void> } | undefined;

  synced = false;
  listedAt: number | undefined;
  heardAt: number | undefined;
  lastError: unknown;

  constructor(options: ReflectorOptions<T, Raw>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#watchList = options.watchList ?? false;
    this.#kept = new Kept({
      project: options.project,
      onChange: (change) => options.onChange?.(change),
      onLeftOut: (name, error) => this.#tell({ kind: "left-out", name, error }),
    });
  }

  get live(): boolean {
    const quietAfterMs = this.#options.quietAfterMs ?? Number.POSITIVE_INFINITY;
    return this.#connected && this.#clock.now() - (this.heardAt ?? 0) < quietAfterMs;
  }

  items(): ReadonlyMap<string, T> {
    return this.#kept.items;
  }

  start(): void {
    if (this.#run !== undefined) return;
    const abort = new AbortController();
    this.#run = { abort, done: this.#loop(abort.signal) };
  }

  async stop(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.abort.abort();
    await run.done;
    if (this.#run === run) this.#run = undefined;
  }

  async #loop(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const pass = await this.#pass(signal);
      if (signal.aborted) return;
      failures = pass.healthy ? 0 : failures;
      if (pass.healthy && pass.error === undefined) continue;
      failures += 1;
      const retryInMs = backoff(failures, pass.error, this.#random);
      if (pass.error !== undefined) this.#tell({ kind: "failed", error: pass.error, retryInMs });
      await pause(this.#clock, retryInMs, signal).catch(() => {});
    }
  }

  /** One list if needed, one watch. Never rejects. */
  async #pass(signal: AbortSignal): Promise<{ healthy: boolean; error?: unknown }> {
    let openedAt: number | undefined;
    const onOpen = () => {
      openedAt = this.#clock.now();
    };
    const isHealthy = () => openedAt !== undefined && this.#clock.now() - openedAt >= HEALTHY_WATCH_MS;
    try {
      if (this.#resourceVersion === undefined && this.#watchList) await this.#listByWatch(signal, onOpen);
      else {
        if (this.#resourceVersion === undefined) await this.#listByPages(signal);
        await this.#watch(signal, onOpen);
      }
      return { healthy: isHealthy() };
    } catch (error) {
      if (isExpired(error)) this.#resourceVersion = undefined;
      if (!signal.aborted) this.lastError = error;
      return { healthy: isHealthy(), error };
    } finally {
      if (this.#connected) {
        this.#connected = false;
        this.#tell({ kind: "ended" });
      }
    }
  }

  async #listByPages(signal: AbortSignal): Promise<void> {
    this.#tell({ kind: "listing" });
    let pageSize = this.#options.pageSize ?? DEFAULT_PAGE_SIZE;
    for (;;) {
      try {
        this.#complete(await this.#readPages(pageSize, signal));
        return;
      } catch (error) {
        if (!(error instanceof PagesExpired)) throw error;
        pageSize *= PAGE_GROWTH;
      }
    }
  }

  /** Takes every object in; resolves to the names seen and the version of the list. Throws PagesExpired for a 410 after the first page. */
  async #readPages(limit: number, signal: AbortSignal): Promise<CompleteList> {
    const seen = new Set<string>();
    let resourceVersion: string | undefined;
    let token: string | undefined;
    do {
      const page = await this.#options.client
        .listPage(this.#options.resource, { ...this.#selection(), limit, continue: token, signal })
        .catch((error: unknown) => {
          throw token !== undefined && isExpired(error) ? new PagesExpired() : error;
        });
      signal.throwIfAborted();
      this.heardAt = this.#clock.now();
      for (const object of page.items) seen.add(this.#kept.set(object));
      resourceVersion ??= page.resourceVersion;
      token = page.continue;
    } while (token !== undefined);
    return { seen, resourceVersion };
  }

  async #watch(signal: AbortSignal, onOpen: () => void): Promise<void> {
    await this.#options.client.watch(this.#options.resource, {
      ...this.#selection(),
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: this.#watchSeconds(),
      signal,
      onOpen: () => {
        onOpen();
        this.#goLive();
      },
      onEvent: (event) => this.#take(event),
    });
  }

  /** One stream that first brings what exists, then what changes. */
  async #listByWatch(signal: AbortSignal, onOpen: () => void): Promise<void> {
    this.#tell({ kind: "listing" });
    const seen = new Set<string>();
    const silence = watchSilence(this.#clock, () => this.heardAt);
    let isInitial = true;
    try {
      await this.#options.client.watch(this.#options.resource, {
        ...this.#selection(),
        initialEvents: true,
        timeoutSeconds: this.#watchSeconds(),
        signal: AbortSignal.any([signal, silence.signal]),
        onOpen,
        onEvent: (event) => {
          if (!isInitial) {
            this.#take(event);
            return;
          }
          const end = this.#takeInitial(event, seen);
          if (end === undefined) return;
          silence.cancel();
          isInitial = false;
          this.#complete({ seen, resourceVersion: end });
          this.#goLive();
        },
      });
      if (isInitial) throw new NoWatchList("the stream ended before the list did");
    } catch (error) {
      if (isInitial && !signal.aborted && meansNoWatchList(error)) {
        this.#watchList = false;
        this.#tell({ kind: "no-watch-list", error });
        await this.#listByPages(signal);
        await this.#watch(signal, onOpen);
        return;
      }
      throw error;
    } finally {
      silence.cancel();
    }
  }

  /** The list's version at its end; undefined before. */
  #takeInitial(event: WatchEvent<Raw>, seen: Set<string>): string | undefined {
    this.heardAt = this.#clock.now();
    switch (event.type) {
      case "BOOKMARK":
        if (event.object.metadata.annotations?.[INITIAL_EVENTS_END] === "true") {
          return event.object.metadata.resourceVersion;
        }
        throw new NoWatchList("the server sends bookmarks but no end of the list");
      case "DELETED":
        seen.delete(this.#kept.remove(event.object));
        return undefined;
      default:
        seen.add(this.#kept.set(event.object));
        return undefined;
    }
  }

  #take(event: WatchEvent<Raw>): void {
    this.heardAt = this.#clock.now();
    if (event.type === "DELETED") this.#kept.remove(event.object);
    else if (event.type !== "BOOKMARK") this.#kept.set(event.object);
    this.#resourceVersion = event.object.metadata.resourceVersion ?? this.#resourceVersion;
  }

  #complete({ seen, resourceVersion }: CompleteList): void {
    this.#kept.removeAllBut(seen);
    this.#resourceVersion = resourceVersion;
    this.listedAt = Math.floor(this.#clock.now() / 1_000);
    this.synced = true;
    this.lastError = undefined;
    this.#tell({ kind: "synced", items: this.#kept.items.size });
    this.#options.onSynced?.();
  }

  #goLive(): void {
    this.#connected = true;
    this.heardAt = this.#clock.now();
    this.lastError = undefined;
    this.#tell({ kind: "live" });
  }

  #selection(): {
    namespace?: string | undefined;
    labelSelector?: string | undefined;
    fieldSelector?: string | undefined;
  } {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  #watchSeconds(): number {
    return Math.floor(
      SHORTEST_WATCH_SECONDS + this.#random() * (LONGEST_WATCH_SECONDS - SHORTEST_WATCH_SECONDS),
    );
  }

  #tell(status: ReflectorStatus): void {
    this.#options.onStatus?.(status);
  }
}

interface CompleteList {
  readonly seen: ReadonlySet<string>;
  readonly resourceVersion: string | undefined;
}

class PagesExpired extends Error {}

/**
 * A refusal of the request as such (400, 422 …), an ERROR event inside the initial list (etcd 3.4), or a stream that never ends the list.
 * Not: bad credentials, a missing resource, an expired version, overload, which a list would meet as well.
 */
function meansNoWatchList(error: unknown): boolean {
  if (error instanceof NoWatchList) return true;
  if (!(error instanceof StatusError)) return false;
  if ([401, 403, 404, 410, 429].includes(error.status)) return false;
  return error.status < 500 || error.isWatchEvent;
}
