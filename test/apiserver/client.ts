/** A bare HTTP client for these tests: requests, and watches whose events are awaited one by one. */
import { type IncomingMessage, request } from "node:http";
import type { ApiServer, JsonMap } from "../../src/lab/apiserver/index.ts";

/** An answer with its decoded body. */
export interface Answered {
  readonly status: number;
  readonly body: JsonMap;
  readonly headers: IncomingMessage["headers"];
}

/** Optional parts of a request. */
export interface SendOptions {
  readonly headers?: Record<string, string>;
  /** Go through this unix socket instead of TCP. */
  readonly socketPath?: string;
}

/** One event of a watch. */
export interface WatchedEvent {
  readonly type: string;
  readonly object: JsonMap;
}

/** An event that does not come within this time will not come: everything here is on loopback. */
const PATIENCE_MS = 3000;

/** Sends one request; a body that is not text goes as JSON. */
export async function send(
  server: ApiServer,
  method: string,
  path: string,
  body?: unknown,
  options: SendOptions = {},
): Promise<Answered> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const response = await open(server, method, path, text, options);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const answered = Buffer.concat(chunks).toString();
  const json = response.headers["content-type"] === "application/json";
  return {
    status: response.statusCode ?? 0,
    body: json ? JSON.parse(answered) : { text: answered },
    headers: response.headers,
  };
}

/** PATCH with a patch kind: `merge-patch+json`, `json-patch+json`, `strategic-merge-patch+json`, `apply-patch+yaml`. */
export function patch(server: ApiServer, kind: string, path: string, body: unknown): Promise<Answered> {
  return send(server, "PATCH", path, body, { headers: { "Content-Type": `application/${kind}` } });
}

/** An open watch. */
export class Watcher {
  readonly #response: IncomingMessage;
  readonly #events: WatchedEvent[] = [];
  #rest = "";
  #wake: () => void = () => undefined;
  #ended = false;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#take(text));
    response.on("error", () => undefined);
    response.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** Opens a watch; `path` holds the query. */
  static async open(server: ApiServer, path: string, options: SendOptions = {}): Promise<Watcher> {
    return new Watcher(await open(server, "GET", path, undefined, options));
  }

  /** The next event; throws when none comes in time or the stream ends. */
  async next(): Promise<WatchedEvent> {
    const deadline = Date.now() + PATIENCE_MS;
    while (this.#events.length === 0) {
      if (this.#ended) throw new Error("the watch ended");
      if (Date.now() >= deadline) throw new Error("no event came");
      await this.#change(deadline - Date.now());
    }
    return this.#events.shift() as WatchedEvent;
  }

  /** The next events as `TYPE name`. */
  async names(count: number): Promise<string[]> {
    const names: string[] = [];
    while (names.length < count) {
      const { type, object } = await this.next();
      names.push(`${type} ${(object.metadata as JsonMap).name ?? ""}`.trim());
    }
    return names;
  }

  /** Waits for the end of the stream; throws when it does not come in time. */
  async ended(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!this.#ended) {
      if (Date.now() >= deadline) throw new Error("the watch did not end");
      await this.#change(deadline - Date.now());
    }
  }

  /** Reads no more, as a client that hangs. */
  stall(): void {
    this.#response.pause();
  }

  /** Reads on. */
  readOn(): void {
    this.#response.resume();
  }

  /** Ends the watch from this side. */
  close(): void {
    this.#response.destroy();
  }

  #take(text: string): void {
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    this.#events.push(...lines.map((line) => JSON.parse(line) as WatchedEvent));
    this.#wake();
  }

  async #change(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, milliseconds);
    });
    clearTimeout(timer);
  }
}

function open(
  server: ApiServer,
  method: string,
  path: string,
  body: string | undefined,
  options: SendOptions,
): Promise<IncomingMessage> {
  // Node.js sends no length with a DELETE by itself.
  const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
  const headers = { "Content-Type": "application/json", ...length, ...options.headers };
  const socket = options.socketPath === undefined ? {} : { socketPath: options.socketPath };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server.url), { method, headers, agent: false, ...socket }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}
