/** Watches: one JSON document a line, from a revision on, with bookmarks, until the time is over or the client too slow. */
import type { ServerResponse } from "node:http";
import type { ApiObject, JsonMap } from "./json.ts";
import { parseRevision, querySelector } from "./listing.ts";
import { apiVersionOf, type Resource, storeName } from "./resources.ts";
import type { Selector } from "./selectors.ts";
import type { ClientCounter } from "./stats.ts";
import { ApiError, expired } from "./status.ts";
import type { Store, StoredEvent } from "./store.ts";

/** What a watch needs to know of its server. */
export interface WatchSetting {
  readonly store: Store;
  /** Milliseconds between bookmarks. */
  readonly bookmarkInterval: number;
  /** Bytes that may wait for a slow client, besides the present state it asked for, before its watch is cut. */
  readonly maxBuffered: number;
  /** How a watch from forgotten times is told so. */
  readonly expiredWatch: "event" | "status";
}

/** One watch request. `render` gives the object as the client wants it (as it is, or as a Table). */
export interface WatchRequest {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly query: URLSearchParams;
  readonly render: (object: ApiObject) => string;
}

/** Without timeoutSeconds a watch ends after 30 to 60 minutes, as in Kubernetes. */
const DEFAULT_TIMEOUT_SECONDS = 1800;

/** A day: Node's timers take no more than 24 of them, and fire at once beyond that. */
const MAX_TIMEOUT_SECONDS = 86_400;

const HEADERS = { "Content-Type": "application/json", "Cache-Control": "no-cache, private" };

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** An open watch. */
export class Watch {
  readonly #setting: WatchSetting;
  readonly #request: WatchRequest;
  readonly #response: ServerResponse;
  readonly #counter: ClientCounter;
  readonly #selector: Selector;
  readonly #timers: NodeJS.Timeout[] = [];
  #unsubscribe: (() => void) | undefined;
  #open = true;
  /** Bytes that may wait; while the present state is sent it is the server, not the client, that decides how many. */
  #mayWait = Number.POSITIVE_INFINITY;

  /** Parses the query: throws 400. */
  constructor(
    setting: WatchSetting,
    request: WatchRequest,
    response: ServerResponse,
    counter: ClientCounter,
  ) {
    this.#setting = setting;
    this.#request = request;
    this.#response = response;
    this.#counter = counter;
    this.#selector = querySelector(request.resource, request.namespace, request.query);
  }

  /** Sends what there is and subscribes to what comes. Throws 400 and 422, and 410 where that is wanted as a status. */
  start(): void {
    try {
      this.#begin();
    } catch (error) {
      const asEvent =
        error instanceof ApiError && error.httpStatus === 410 && this.#setting.expiredWatch === "event";
      if (!asEvent) throw error;
      this.#open = false;
      const line = `${JSON.stringify({ type: "ERROR", object: error.toStatus() })}\n`;
      this.#counter.failed();
      this.#counter.sentEvent(Buffer.byteLength(line));
      this.#response.writeHead(200, HEADERS);
      this.#response.end(line);
    }
  }

  /** Ends the stream as a server does that wants the client to come again. */
  end(): void {
    if (!this.#open) return;
    this.silence();
    this.#response.end();
  }

  /** Sends nothing more and leaves the connection open: what a client sees of a server that hangs. */
  silence(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#unsubscribe?.();
    for (const timer of this.#timers) clearInterval(timer);
    this.#counter.watching(-1);
  }

  #begin(): void {
    const { store } = this.#setting;
    const { resource, query } = this.#request;
    const from = startOf(query, store.revision);
    const pending: StoredEvent[] = [];
    let live = false;
    this.#unsubscribe = store.subscribe(storeName(resource), from.revision, (event) => {
      if (live) this.#deliver(event);
      else pending.push(event);
    });
    this.#response.writeHead(200, HEADERS);
    this.#response.flushHeaders();
    this.#response.on("close", () => this.end());
    this.#counter.watching(1);
    this.#response.cork();
    if (from.initial) this.#sendInitial(from.markEnd);
    for (const event of pending) this.#deliver(event);
    this.#response.uncork();
    this.#mayWait = this.#setting.maxBuffered + this.#response.writableLength;
    live = true;
    this.#startTimers();
  }

  #startTimers(): void {
    const asked = Number(this.#request.query.get("timeoutSeconds") ?? "0");
    const wanted = asked > 0 ? asked : DEFAULT_TIMEOUT_SECONDS * (1 + Math.random());
    const seconds = Math.min(wanted, MAX_TIMEOUT_SECONDS);
    this.#timers.push(setTimeout(() => this.end(), seconds * 1000).unref());
    if (this.#request.query.get("allowWatchBookmarks") !== "true") return;
    const send = (): void => this.#sendBookmark(this.#setting.store.revision, {});
    this.#timers.push(setInterval(send, this.#setting.bookmarkInterval).unref());
  }

  #sendInitial(markEnd: boolean): void {
    const { store } = this.#setting;
    for (const [, object] of store.list(storeName(this.#request.resource))) {
      if (this.#selector(object)) this.#send("ADDED", this.#request.render(object));
    }
    if (markEnd) this.#sendBookmark(store.revision, { [INITIAL_EVENTS_END]: "true" });
  }

  /** An object that leaves the selection is sent as deleted, one that enters it as added. */
  #deliver({ type, object, previous }: StoredEvent): void {
    const is = this.#selector(object) && type !== "DELETED";
    const was = previous !== undefined && this.#selector(previous);
    if (!is && !was) return;
    const sent = is && was ? "MODIFIED" : is ? "ADDED" : "DELETED";
    // A deletion shows the last state the client selected, at the revision of the change.
    const shown = is || previous === undefined ? object : leaving(previous, object);
    this.#send(sent, this.#request.render(shown));
  }

  #sendBookmark(revision: number, annotations: Record<string, string>): void {
    const { resource, render } = this.#request;
    const marked = Object.keys(annotations).length > 0;
    const metadata: JsonMap = {
      resourceVersion: String(revision),
      creationTimestamp: null,
      ...(marked && { annotations }),
    };
    const bookmark: JsonMap = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
    this.#send("BOOKMARK", render(bookmark as ApiObject));
  }

  #send(type: string, text: string): void {
    if (!this.#open) return;
    if (this.#response.writableLength > this.#mayWait) {
      this.silence();
      this.#response.destroy();
      return;
    }
    const line = `{"type":"${type}","object":${text}}\n`;
    this.#response.write(line);
    this.#counter.sentEvent(Buffer.byteLength(line));
  }
}

interface Start {
  readonly revision: number;
  /** Whether all present objects are sent first, as ADDED. */
  readonly initial: boolean;
  /** Whether a bookmark says where those end. */
  readonly markEnd: boolean;
}

function startOf(query: URLSearchParams, current: number): Start {
  const asked = parseRevision(query.get("resourceVersion"));
  // A revision we have not reached comes from a server that was emptied since: only a new list helps the client.
  if (asked !== undefined && asked > current)
    throw expired(`too large resource version: ${asked}, current: ${current}`);
  const sendInitial = query.get("sendInitialEvents");
  if (sendInitial === null && query.get("resourceVersionMatch") !== null) {
    throw forbiddenMatch("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (sendInitial !== null && query.get("resourceVersionMatch") !== "NotOlderThan") {
    throw forbiddenMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  const initial = sendInitial === "true" || (sendInitial === null && (asked === undefined || asked === 0));
  const markEnd = sendInitial === "true" && query.get("allowWatchBookmarks") === "true";
  return { revision: initial ? current : (asked ?? current), initial, markEnd };
}

function forbiddenMatch(why: string): ApiError {
  return new ApiError(
    422,
    "Invalid",
    `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ${why}`,
  );
}

function leaving(previous: ApiObject, object: ApiObject): ApiObject {
  const { resourceVersion } = object.metadata;
  const metadata = { ...previous.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
  return { ...previous, metadata };
}
