/** The verbs: get, list, watch, create, patch, delete. One call of ours is one request, unless the server asks to come again. */
import { type Clock, pause, systemClock } from "./clock.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { ProtocolError } from "./errors.ts";
import type { KubeObject, ListPage, WatchEvent } from "./objects.ts";
import { readBody } from "./read-body.ts";
import { type Operation, operationPath, operationText, type Resource } from "./resources.ts";
import { statusErrorOfAnswer } from "./status.ts";
import { type Call, createTransport, type Transport, type WholeAnswer } from "./transport.ts";
import { readWatch } from "./watch.ts";

/** Largest answer that is read: a page of 50 objects of etcd's largest size, 1.5 MiB. */
const MAX_BODY_BYTES = 80 * 1024 * 1024;

/** Largest body of a failure that is read for its message. */
const MAX_FAILURE_BYTES = 1024 * 1024;

/** Tries of a call that the server refuses with Retry-After before it is told to the caller. */
const TRIES = 3;

/** Longest Retry-After that is waited for inside a call; the caller's own back-off is better at more. */
const LONGEST_RETRY_AFTER_MS = 5_000;

/** Objects a page: 50 nodes are half a megabyte, and peak memory follows the page (libraries.md §1.3). */
export const DEFAULT_PAGE_SIZE = 50;

export type PatchKind = "merge" | "strategic" | "json" | "apply";

const PATCH_TYPES: Readonly<Record<PatchKind, string>> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
};

export interface CallOptions {
  /** For namespaced resources; without it, `list` and `watch` mean all namespaces. */
  readonly namespace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SelectOptions extends CallOptions {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListPageOptions extends SelectOptions {
  /** Objects at most. @default DEFAULT_PAGE_SIZE; 0 is no limit */
  readonly limit?: number | undefined;
  /** Token of the page before. */
  readonly continue?: string | undefined;
}

export interface WatchOptions<T> extends SelectOptions {
  /** Where to begin: the version of a list or of the last event. Undefined only with `initialEvents`. */
  readonly resourceVersion?: string | undefined;
  /** WatchList: the server sends what exists first, and then a bookmark with `k8s.io/initial-events-end`. @default false */
  readonly initialEvents?: boolean | undefined;
  /** After which the server ends the watch. */
  readonly timeoutSeconds: number;
  /** Called when the server has accepted the watch. */
  readonly onOpen?: (() => void) | undefined;
  readonly onEvent: (event: WatchEvent<T>) => void;
}

export interface WriteOptions extends CallOptions {
  /** Who owns the fields. @default "kilomesh" */
  readonly fieldManager?: string | undefined;
}

export interface PatchOptions extends WriteOptions {
  readonly kind: PatchKind;
  /** Apply only: take fields over from other managers. @default false */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this very object, not one that was made anew under its name. */
  readonly uid?: string | undefined;
  /** Delete only if nobody changed it since. */
  readonly resourceVersion?: string | undefined;
}

/** What a reflector needs of a client. */
export interface ListWatch {
  listPage<T extends KubeObject>(resource: Resource<T>, options?: ListPageOptions): Promise<ListPage<T>>;
  /** Resolves when the server ended the watch in order; rejects with KubeError (410: `isExpired`) or the signal's reason. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions<T>): Promise<void>;
}

/** Every verb rejects with a KubeError, or with the reason of its signal. */
export interface KubeClient extends ListWatch {
  get<T extends KubeObject>(resource: Resource<T>, name: string, options?: CallOptions): Promise<T>;
  /** All pages. A list that expires between pages rejects with 410. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListPageOptions): Promise<ListPage<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** `body` is an object, for kind `json` the array of operations, for `apply` the whole object. Resolves to the object as it is now. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    body: unknown,
    options: PatchOptions,
  ): Promise<T>;
  patchStatus<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    body: unknown,
    options: PatchOptions,
  ): Promise<T>;
  delete<T extends KubeObject>(resource: Resource<T>, name: string, options?: DeleteOptions): Promise<void>;
  /** Closes every connection; running calls reject. */
  close(): void;
}

export interface KubeClientOptions {
  readonly config: ClusterConfig;
  /** The server's audit log shows it. @default "kilomesh" */
  readonly userAgent?: string | undefined;
  readonly clock?: Clock | undefined;
}

/** Makes a client; nothing is opened before the first call. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const clock = options.clock ?? systemClock;
  return new Client(createTransport(options.config, options.userAgent ?? "kilomesh", clock), clock);
}

class Client implements KubeClient {
  readonly #transport: Transport;
  readonly #clock: Clock;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    options: CallOptions = {},
  ): Promise<T> {
    const operation = { verb: "get", resource, name, namespace: options.namespace } as const;
    return (await this.#json(operation, { method: "GET" }, {}, options)) as T;
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListPageOptions = {},
  ): Promise<ListPage<T>> {
    const first = await this.listPage(resource, options);
    const items = [...first.items];
    let token = first.continue;
    while (token !== undefined) {
      const page = await this.listPage(resource, { ...options, continue: token });
      items.push(...page.items);
      token = page.continue;
    }
    return { items, resourceVersion: first.resourceVersion };
  }

  async listPage<T extends KubeObject>(
    resource: Resource<T>,
    options: ListPageOptions = {},
  ): Promise<ListPage<T>> {
    const operation = { verb: "list", resource, namespace: options.namespace } as const;
    const limit = options.limit ?? DEFAULT_PAGE_SIZE;
    const query = {
      limit: limit > 0 ? String(limit) : undefined,
      continue: options.continue,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    };
    const list = await this.#json(operation, { method: "GET" }, query, options);
    return readPage<T>(list, operation);
  }

  async watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions<T>): Promise<void> {
    const operation = { verb: "watch", resource, namespace: options.namespace } as const;
    const query = {
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(options.timeoutSeconds),
      resourceVersion: options.resourceVersion,
      sendInitialEvents: options.initialEvents ? "true" : undefined,
      resourceVersionMatch: options.initialEvents ? "NotOlderThan" : undefined,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    };
    const answer = await this.#transport.open(callOf(operation, { method: "GET" }, query, options.signal));
    if (answer.status !== 200) {
      const what = operationText(operation);
      const limits = { maxBytes: MAX_FAILURE_BYTES, signal: options.signal, clock: this.#clock };
      const body = await readBody(answer.body, { what, ...limits });
      throw statusErrorOfAnswer(operation, { ...answer, body, source: this.#transport.source });
    }
    options.onOpen?.();
    await readWatch(answer.body, {
      operation,
      source: this.#transport.source,
      timeoutSeconds: options.timeoutSeconds,
      clock: this.#clock,
      signal: options.signal,
      onEvent: (event) => options.onEvent(event as unknown as WatchEvent<T>),
    });
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const operation = {
      verb: "create",
      resource,
      name: object.metadata.name,
      namespace: options.namespace ?? object.metadata.namespace,
    } as const;
    const request = { method: "POST", body: JSON.stringify(withType(resource, object)) } as const;
    return (await this.#json(operation, request, managerOf(options), options)) as T;
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    body: unknown,
    options: PatchOptions,
  ): Promise<T> {
    return this.#patch({ verb: "patch", resource, name, namespace: options.namespace }, body, options);
  }

  patchStatus<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    body: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const operation = {
      verb: "patch",
      resource,
      name,
      namespace: options.namespace,
      subresource: "status",
    } as const;
    return this.#patch(operation, body, options);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    options: DeleteOptions = {},
  ): Promise<void> {
    const operation = { verb: "delete", resource, name, namespace: options.namespace } as const;
    const preconditions = { uid: options.uid, resourceVersion: options.resourceVersion };
    const isConditional = options.uid !== undefined || options.resourceVersion !== undefined;
    const body = JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", preconditions });
    await this.#json(operation, { method: "DELETE", body: isConditional ? body : undefined }, {}, options);
  }

  close(): void {
    this.#transport.close();
  }

  async #patch<T>(operation: Operation, body: unknown, options: PatchOptions): Promise<T> {
    const request = {
      method: "PATCH",
      body: JSON.stringify(body),
      contentType: PATCH_TYPES[options.kind],
    } as const;
    const query = {
      ...managerOf(options),
      force: options.kind === "apply" && options.force ? "true" : undefined,
    };
    return (await this.#json(operation, request, query, options)) as T;
  }

  async #json(operation: Operation, request: Request, query: Query, options: CallOptions): Promise<unknown> {
    const call = callOf(operation, request, query, options.signal);
    for (let tries = 1; ; tries++) {
      const answer = await this.#transport.exchange(call, MAX_BODY_BYTES);
      if (answer.status >= 200 && answer.status < 300) return parseBody(answer.body, operation);
      const wait = waitAskedFor(answer);
      if (wait === undefined || tries === TRIES) {
        throw statusErrorOfAnswer(operation, { ...answer, source: this.#transport.source });
      }
      await pause(this.#clock, wait, options.signal);
    }
  }
}

type Query = Readonly<Record<string, string | undefined>>;
type Request = Pick<Call, "method" | "body" | "contentType">;

function callOf(operation: Operation, request: Request, query: Query, signal: AbortSignal | undefined): Call {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, value);
  }
  const text = parameters.toString();
  const path = operationPath(operation);
  return { ...request, path: text === "" ? path : `${path}?${text}`, what: operationText(operation), signal };
}

function managerOf(options: WriteOptions): Query {
  return { fieldManager: options.fieldManager ?? "kilomesh" };
}

/** A request that was refused for overload was not carried out, so it may be sent again whatever its verb. */
function waitAskedFor(answer: WholeAnswer): number | undefined {
  const isRefused = answer.status === 429 || answer.status === 503;
  if (!isRefused || answer.retryAfterMs === undefined) return undefined;
  return answer.retryAfterMs <= LONGEST_RETRY_AFTER_MS ? answer.retryAfterMs : undefined;
}

function withType<T extends KubeObject>(resource: Resource<T>, object: T): T {
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  return { ...object, apiVersion, kind: resource.kind };
}

function parseBody(body: Buffer, operation: Operation): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new ProtocolError(
      "NotJson",
      `cannot ${operationText(operation)}: the answer is not JSON; check that the address is an API server's`,
    );
  }
}

function readPage<T extends KubeObject>(list: unknown, operation: Operation): ListPage<T> {
  const { items, metadata } = (list ?? {}) as {
    items?: unknown;
    metadata?: { resourceVersion?: unknown; continue?: unknown };
  };
  const isList = (Array.isArray(items) || items === null) && typeof metadata?.resourceVersion === "string";
  if (!isList) {
    throw new ProtocolError(
      "NotJson",
      `cannot ${operationText(operation)}: the answer is not a list; check that the address is an API server's`,
    );
  }
  const token = metadata.continue;
  return {
    items: (items ?? []) as readonly T[],
    resourceVersion: metadata.resourceVersion as string,
    continue: typeof token === "string" && token !== "" ? token : undefined,
  };
}
