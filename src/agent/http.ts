/** The agent's HTTP server: `/livez`, `/health`, `/metrics` (kilo.md §1.3). Nothing of the topology or of keys is served here. */
import { createServer, type Server } from "node:http";

export interface HttpOptions {
  /** `:1107`, `127.0.0.1:1107` or `[::1]:1107`; an empty host is all addresses. */
  readonly listen: string;
  /** Reasons why the agent is not ready; empty when it is. */
  readonly notReady: () => readonly string[];
  /** Metrics in Prometheus' text format. */
  readonly metrics: () => string;
}

/** The agent cannot listen. */
export class ListenError extends Error {
  readonly code = "listen";
}

/** A request that takes longer than this is cut: scrapers and probes answer within a second. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Starts the server. Resolves when it listens.
 * @throws ListenError when the address cannot be parsed or the port is taken
 */
export async function serveHttp(options: HttpOptions): Promise<{ close(): Promise<void> }> {
  const { host, port } = parseListen(options.listen);
  const server = createServer((request, response) => {
    const { status, type, body } = answer(request.method ?? "", request.url ?? "", options);
    response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
    response.end(request.method === "HEAD" ? "" : body);
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = 64;
  await listen(server, host, port, options.listen);
  return { close: () => close(server) };
}

/** Splits a listen address. */
export function parseListen(text: string): { host: string | undefined; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) {
    throw new ListenError(`cannot listen on "${text}": not HOST:PORT, [IPv6]:PORT or :PORT`);
  }
  const host = match[1] ?? match[2];
  return { host: host === "" ? undefined : host, port };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function answer(method: string, url: string, options: HttpOptions): Answer {
  if (method !== "GET" && method !== "HEAD") return text(405, "only GET and HEAD\n");
  switch (url.split("?")[0]) {
    case "/livez":
      return text(200, "ok\n");
    case "/health":
    case "/healthz":
    case "/readyz":
      return health(options.notReady());
    case "/metrics":
      return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body: options.metrics() };
    case "/":
      return text(200, "kilomesh agent: /livez /health /metrics\n");
    default:
      return text(404, "not found; served here: /livez /health /metrics\n");
  }
}

function health(reasons: readonly string[]): Answer {
  return reasons.length === 0 ? text(200, "ok\n") : text(503, `not ready\n${reasons.join("\n")}\n`);
}

function text(status: number, body: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body };
}

function listen(server: Server, host: string | undefined, port: number, label: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const advice =
        error.code === "EADDRINUSE"
          ? "the port is taken; is another kg running on this host? Choose another with --listen"
          : error.message;
      reject(new ListenError(`cannot listen on "${label}": ${advice}`, { cause: error }));
    });
    server.listen({ host, port }, () => resolve());
  });
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
