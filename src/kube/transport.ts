/** HTTP to one API server: one keep-alive agent, every wait bounded, every failure told. Knows nothing of Kubernetes' objects. */
import http from "node:http";
import https from "node:https";
import type { Clock } from "./clock.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { connectionError } from "./connection-error.ts";
import { ProtocolError } from "./errors.ts";
import { readBody } from "./read-body.ts";
import { parseRetryAfter } from "./status.ts";

/**
 * TCP keep-alive: first probe after 10 s without traffic; Node then probes every second and gives up after ten. A server that vanished
 * is noticed after 20 s, before the 60 s after which nodes would be called stale on the word of a dead watch.
 */
const TCP_PROBE_AFTER_MS = 10_000;

/** DNS, TCP and TLS together. An emulated machine needs more than a second for TLS; three SYNs go out within this. */
const CONNECT_TIMEOUT_MS = 10_000;

/** From sending a request until its answer begins. API servers give up by themselves after 60 s, usually far earlier. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Idle connections kept: the agent's own requests come one after the other, watches keep theirs in use. */
const IDLE_CONNECTIONS = 2;

/** Go's servers close idle connections after minutes; ours go first, so that a request seldom meets a closed one. */
const IDLE_TIMEOUT_MS = 60_000;

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with query, below the server's address. */
  readonly path: string;
  /** For messages: `list nodes`. */
  readonly what: string;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The head of an answer, whatever its status, and its body, not yet read. */
export interface Answer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly body: http.IncomingMessage;
}

/** A whole answer. */
export interface WholeAnswer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly body: Buffer;
}

export interface Transport {
  readonly server: string;
  readonly source: string;
  /**
   * Sends a call and waits for the head of the answer. Rejects with UnreachableError, TlsError, ConfigError or the signal's reason.
   * A call that meets a connection which the server closed meanwhile is sent once more, except POST.
   */
  open(call: Call): Promise<Answer>;
  /** Sends a call and reads its answer, up to `maxBytes`. Rejects as `open` does, and with ProtocolError. */
  exchange(call: Call, maxBytes: number): Promise<WholeAnswer>;
  /** Closes every connection. */
  close(): void;
}

/** Makes the transport to a server; nothing is opened before the first call. */
export function createTransport(config: ClusterConfig, userAgent: string, clock: Clock): Transport {
  return new NodeTransport(config, userAgent, clock);
}

class NodeTransport implements Transport {
  readonly server: string;
  readonly source: string;
  readonly #config: ClusterConfig;
  readonly #userAgent: string;
  readonly #clock: Clock;
  readonly #url: URL;
  readonly #agent: http.Agent;

  constructor(config: ClusterConfig, userAgent: string, clock: Clock) {
    this.server = config.server;
    this.source = config.source;
    this.#config = config;
    this.#userAgent = userAgent;
    this.#clock = clock;
    this.#url = new URL(config.server);
    const options = {
      keepAlive: true,
      keepAliveMsecs: TCP_PROBE_AFTER_MS,
      maxFreeSockets: IDLE_CONNECTIONS,
      timeout: IDLE_TIMEOUT_MS,
    };
    this.#agent = this.#isTls ? new https.Agent(options) : new http.Agent(options);
  }

  async open(call: Call): Promise<Answer> {
    const first = await this.#attempt(call);
    if (first !== "connection was closed") return first;
    const second = await this.#attempt(call);
    if (second !== "connection was closed") return second;
    throw connectionError(this.#attemptOf(call), { code: "ECONNRESET" });
  }

  async exchange(call: Call, maxBytes: number): Promise<WholeAnswer> {
    const answer = await this.open(call);
    const body = await readBody(answer.body, {
      what: call.what,
      maxBytes,
      signal: call.signal,
      clock: this.#clock,
    });
    return { status: answer.status, retryAfterMs: answer.retryAfterMs, body };
  }

  close(): void {
    this.#agent.destroy();
  }

  get #isTls(): boolean {
    return this.#url.protocol === "https:";
  }

  #attemptOf(call: Call): { what: string; server: string; source: string } {
    return { what: call.what, server: this.server, source: this.source };
  }

  #attempt(call: Call): Promise<Answer | "connection was closed"> {
    return new Promise((resolve, reject) => {
      call.signal?.throwIfAborted();
      const request = (this.#isTls ? https : http).request(this.#options(call));
      const timers = watchTimes(request, this.#isTls, this.#clock);
      request.on("response", (body) => {
        timers.clear();
        resolve({
          status: body.statusCode ?? 0,
          retryAfterMs: parseRetryAfter(body.headers["retry-after"], this.#clock.now()),
          body,
        });
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        timers.clear();
        if (call.signal?.aborted) reject(call.signal.reason);
        else if (request.reusedSocket && wasClosed(error) && call.method !== "POST") {
          resolve("connection was closed");
        } else if (error.code?.startsWith("HPE_")) reject(notHttp(call, error));
        else reject(connectionError(this.#attemptOf(call), error));
      });
      request.end(call.body);
    });
  }

  #options(call: Call): https.RequestOptions {
    const { ca, certificate, key, token } = this.#config.credentials();
    const headers: http.OutgoingHttpHeaders = { accept: "application/json", "user-agent": this.#userAgent };
    if (token !== undefined && token !== "") headers.authorization = `Bearer ${token}`;
    if (call.body !== undefined) {
      headers["content-type"] = call.contentType ?? "application/json";
      headers["content-length"] = Buffer.byteLength(call.body);
    }
    const common = { method: call.method, headers, agent: this.#agent, signal: call.signal };
    if (this.#url.protocol === "unix:") {
      return { ...common, socketPath: decodeURIComponent(this.#url.pathname), path: call.path };
    }
    const target = {
      ...common,
      host: this.#url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: this.#url.port === "" ? undefined : Number(this.#url.port),
      path: `${this.#url.pathname.replace(/\/$/, "")}${call.path}`,
    };
    if (!this.#isTls) return target;
    return {
      ...target,
      ca,
      cert: certificate,
      key,
      servername: this.#config.serverName,
      rejectUnauthorized: this.#config.insecureSkipTlsVerify !== true,
    };
  }
}

/** Ends the request with an error when connecting or answering takes too long. */
function watchTimes(request: http.ClientRequest, isTls: boolean, clock: Clock): { clear: () => void } {
  const fail = (code: string) => () => request.destroy(Object.assign(new Error(code), { code }));
  const answered = clock.after(ANSWER_TIMEOUT_MS, fail("ANSWER_TIMEOUT"));
  const connected = clock.after(CONNECT_TIMEOUT_MS, fail("CONNECT_TIMEOUT"));
  request.on("socket", (socket) => {
    socket.setKeepAlive(true, TCP_PROBE_AFTER_MS);
    if (request.reusedSocket) connected();
    else socket.once(isTls ? "secureConnect" : "connect", connected);
  });
  return {
    clear: () => {
      connected();
      answered();
    },
  };
}

function wasClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === "ECONNRESET" || error.code === "EPIPE";
}

function notHttp(call: Call, error: NodeJS.ErrnoException): ProtocolError {
  return new ProtocolError("NotHttp", `cannot ${call.what}: the answer is not HTTP (${error.code})`, {
    cause: error,
  });
}
