/** What a reflector takes, tells and offers. */
import type { ListWatch } from "./client.ts";
import type { Clock } from "./clock.ts";
import type { Change } from "./kept.ts";
import type { KubeObject, RawObject } from "./objects.ts";
import type { Resource } from "./resources.ts";

export interface ReflectorOptions<T, Raw extends KubeObject = RawObject> {
  readonly client: ListWatch;
  readonly resource: Resource<Raw>;
  /** What is kept of an object; everything else is dropped at once. Undefined: not of interest. Throwing leaves the object out. */
  readonly project: (object: Raw) => T | undefined;
  /** Called for each difference in what is kept; also before the first `onSynced`. Must not throw. */
  readonly onChange?: ((change: Change<T>) => void) | undefined;
  /** Called after each complete list, changes first. */
  readonly onSynced?: (() => void) | undefined;
  readonly onStatus?: ((status: ReflectorStatus) => void) | undefined;
  /** @default all namespaces */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects a page of a list. @default 50 */
  readonly pageSize?: number | undefined;
  /** Ask for WatchList: less memory with thousands of objects. Falls back to pages where the server does not do it. @default false */
  readonly watchList?: boolean | undefined;
  /**
   * Silence in milliseconds after which a connected watch does not count as live any more: what a server that hangs looks like. Give it
   * where something must come regularly (check-ins every 30 s); a quiet resource would never be live. @default none
   */
  readonly quietAfterMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** For logs and metrics. `failed` comes with what went wrong and when it is tried again. `left-out` is one bad object. */
export type ReflectorStatus =
  | { readonly kind: "listing" }
  | { readonly kind: "synced"; readonly items: number }
  | { readonly kind: "live" }
  | { readonly kind: "ended" }
  | { readonly kind: "no-watch-list"; readonly error: unknown }
  | { readonly kind: "left-out"; readonly name: string; readonly error: unknown }
  | { readonly kind: "failed"; readonly error: unknown; readonly retryInMs: number };

export interface Reflector<T> {
  /** By name, for namespaced resources by `namespace/name`. A live view. Nothing leaves it before a complete list says so. */
  items(): ReadonlyMap<string, T>;
  /** Whether a list was ever complete. */
  readonly synced: boolean;
  /** Whether a watch is connected now, and not quiet for `quietAfterMs`. */
  readonly live: boolean;
  /** When the last complete list was, in Unix seconds. */
  readonly listedAt: number | undefined;
  /** When the server was last heard on the watch or list, in Unix milliseconds. A vanished server is noticed after 20 s, by TCP keep-alive. */
  readonly heardAt: number | undefined;
  /** What went wrong last; undefined since a list or watch succeeded. */
  readonly lastError: unknown;
  /** Idempotent. After `stop` it goes on from where it was. */
  start(): void;
  /** Resolves when nothing runs any more; no callback comes after it. Idempotent. */
  stop(): Promise<void>;
}
