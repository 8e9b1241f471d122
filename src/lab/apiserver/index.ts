/**
 * lab/apiserver: an embedded Kubernetes API server, small enough to start with every test and every demo.
 *
 * Promises: what our agents and the demo's `kubectl` commands send is answered as Kubernetes answers it (get, list, watch,
 * create, update, all four kinds of patch, status, delete; nodes, leases, secrets, events, configmaps, namespaces, pods, CRDs
 * and what they define, with schema validation). What is not served is refused with a Status that says what to use instead:
 * nothing is accepted and then ignored, except CEL rules and `format` in schemas, and ownership of fields: the last to apply
 * wins. Versions of a CRD share one schema-less conversion (only apiVersion differs).
 *
 * Everything is in memory and bounded: remembered events, bodies, slow watchers, counted clients. Every request is counted
 * for its client; `stats()` and GET /lab/stats tell.
 */

import type { Parts } from "./handler.ts";
import { type ApiObject, asMap, asText, copy, type JsonMap } from "./json.ts";
import type { ApiServerOptions, PauseMode } from "./options.ts";
import { Patcher } from "./patching.ts";
import { Registry, type Resource, storeName } from "./resources.ts";
import { Listeners } from "./server.ts";
import { type Stats, StatsBook } from "./stats.ts";
import { ApiError } from "./status.ts";
import { makeKey, Store } from "./store.ts";
import { FIXED_NAMESPACES, Writer } from "./writes.ts";

export type { Access, User } from "./auth.ts";
export { CertificateError, type Certificates, makeCertificates } from "./certificates.ts";
export type { ApiObject, JsonMap } from "./json.ts";
export type { ApiServerOptions } from "./options.ts";
export { ListenError } from "./server.ts";
export { ApiError } from "./status.ts";

/** Names an object for direct access: as in its manifest. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Only for namespaced kinds. */
  readonly namespace?: string;
}

/** A running API server. */
export interface ApiServer {
  /** `https://HOST:PORT` (`http` without TLS). */
  readonly url: string;
  /** Ends watches, cuts connections, stops listening. May be called twice. */
  close(): Promise<void>;
  /** What each client asked for and was sent. */
  stats(): Stats;
  /** Starts the counts again at zero. */
  resetStats(): void;
  /** The revision of the newest write. */
  revision(): number;
  /**
   * Stores an object without a request: created or replaced as a whole, status included, validated like any other. Its
   * namespace is not checked. Throws ApiError.
   */
  put(object: JsonMap): ApiObject;
  /** One object, or undefined. Throws ApiError when the kind is not served. */
  get(name: ObjectName): ApiObject | undefined;
  /** All objects of a kind, sorted by namespace and name. */
  list(apiVersion: string, kind: string): ApiObject[];
  /** Removes an object without a request, finalizers or not; whether there was one. */
  delete(name: ObjectName): boolean;
  /** Ends every watch as a server does that wants its clients to come again. */
  dropWatches(): void;
  /** Forgets all events so far: older resourceVersions and continue tokens are answered with 410. */
  compact(): void;
  /** Is away: `refuse` (default; nothing listens, connections are cut) or `hang` (connections stay, nothing is answered). */
  pause(mode?: PauseMode): Promise<void>;
  /** Is back, on the same port, with the same objects. */
  resume(): Promise<void>;
}

const DEFAULTS = {
  historyLength: 1000,
  bookmarkInterval: 5000,
  maxBuffered: 8 * 1024 * 1024,
  maxBody: 3 * 1024 * 1024,
};

/** Starts an API server with the namespaces every cluster has. Throws ListenError, and ApiError for bad initial objects. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = new EmbeddedServer(options);
  for (const name of FIXED_NAMESPACES)
    server.put({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  for (const object of options.objects ?? []) server.put(object);
  await server.open();
  return server;
}

class EmbeddedServer implements ApiServer {
  readonly #store: Store;
  readonly #registry = new Registry();
  readonly #stats = new StatsBook();
  readonly #parts: Parts;
  readonly #listeners: Listeners;

  constructor(options: ApiServerOptions) {
    const now = options.now ?? Date.now;
    const store = new Store(options.historyLength ?? DEFAULTS.historyLength);
    const writer = new Writer(store, this.#registry, now);
    this.#store = store;
    this.#parts = {
      ...{ store, writer, now, stats: this.#stats, registry: this.#registry, watches: new Set() },
      patcher: new Patcher(store, writer),
      watchSetting: {
        store,
        bookmarkInterval: options.bookmarkInterval ?? DEFAULTS.bookmarkInterval,
        expiredWatch: options.expiredWatch ?? "event",
        maxBuffered: options.maxBuffered ?? DEFAULTS.maxBuffered,
      },
      maxBody: options.maxBody ?? DEFAULTS.maxBody,
      tokens: options.tokens,
      authorizer: options.authorizer,
    };
    this.#listeners = new Listeners(options, this.#parts);
  }

  get url(): string {
    return this.#listeners.url;
  }

  open(): Promise<void> {
    return this.#listeners.open();
  }

  async close(): Promise<void> {
    this.dropWatches();
    await this.#listeners.close();
  }

  stats(): Stats {
    return this.#stats.read();
  }

  resetStats(): void {
    this.#stats.reset();
  }

  revision(): number {
    return this.#store.revision;
  }

  put(object: JsonMap): ApiObject {
    const resource = this.#resource(asText(object.apiVersion), asText(object.kind));
    const namespace = asText(asMap(object.metadata).namespace);
    return this.#parts.writer.put({ resource, ...(namespace !== "" && { namespace }) }, copy(object));
  }

  get(name: ObjectName): ApiObject | undefined {
    const resource = this.#resource(name.apiVersion, name.kind);
    return this.#store.get(storeName(resource), makeKey(name.namespace, name.name));
  }

  list(apiVersion: string, kind: string): ApiObject[] {
    return this.#store.list(storeName(this.#resource(apiVersion, kind))).map(([, object]) => object);
  }

  delete(name: ObjectName): boolean {
    const found = this.get(name);
    if (found === undefined) return false;
    this.#parts.writer.remove(this.#resource(name.apiVersion, name.kind), found);
    return true;
  }

  dropWatches(): void {
    for (const watch of this.#parts.watches) watch.end();
  }

  compact(): void {
    this.#store.compact();
  }

  pause(mode: PauseMode = "refuse"): Promise<void> {
    return this.#listeners.pause(mode);
  }

  resume(): Promise<void> {
    return this.#listeners.resume();
  }

  #resource(apiVersion: string, kind: string): Resource {
    const resource = this.#registry.forKind(apiVersion, kind);
    if (resource !== undefined) return resource;
    const message = `cannot find kind ${kind} of ${apiVersion}: it is not built in and no CRD defines it`;
    throw new ApiError(404, "NotFound", message);
  }
}
