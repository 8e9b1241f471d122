/** For tests: an HTTP(S) server that answers each request as the test says, and remembers what was asked. */
import http from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { SERVER, TEST_CA } from "./certificates.test-kit.ts";

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** Subject's common name of the client certificate, when a valid one was shown. */
  readonly clientName: string | undefined;
}

export type Answerer = (request: ScriptedRequest, response: http.ServerResponse) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly requests: ScriptedRequest[];
  /** Connections that were opened so far. */
  readonly connections: number;
  /** What the next requests get. */
  answer: Answerer;
  /** Cuts every connection, the server goes on listening. */
  cutConnections(): void;
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  /** Plain HTTP instead of TLS. @default false */
  readonly plain?: boolean | undefined;
  /** @default SERVER of the test certificates */
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
  /** Refuse clients without a certificate of the test CA. @default false */
  readonly requireClient?: boolean | undefined;
  /** Path of a unix socket. @default a port on 127.0.0.1 */
  readonly path?: string | undefined;
}

/** Starts the server on loopback. */
export async function startScriptedServer(
  answer: Answerer,
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const { certificate, key } = options.identity ?? SERVER;
  const tls = {
    cert: certificate,
    key,
    ca: TEST_CA,
    requestCert: true,
    rejectUnauthorized: options.requireClient ?? false,
  };
  const server = options.plain || options.path !== undefined ? http.createServer() : https.createServer(tls);
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });

  const scripted = {
    requests: [] as ScriptedRequest[],
    answer,
    get connections() {
      return connections;
    },
    cutConnections() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  server.on("request", async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const seen = await readRequest(request);
    scripted.requests.push(seen);
    scripted.answer(seen, response);
  });

  await new Promise<void>((resolve) => {
    if (options.path !== undefined) server.listen(options.path, resolve);
    else server.listen(0, "127.0.0.1", resolve);
  });
  const port = options.path === undefined ? (server.address() as AddressInfo).port : 0;
  const url =
    options.path === undefined
      ? `${options.plain ? "http" : "https"}://127.0.0.1:${port}`
      : `unix://${options.path}`;
  return Object.assign(scripted, { url, port });
}

/** Answers with JSON. */
export function sendJson(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Answers with a Status object of failure. */
export function sendStatus(
  response: http.ServerResponse,
  code: number,
  reason: string,
  message: string,
): void {
  sendJson(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message });
}

async function readRequest(request: http.IncomingMessage): Promise<ScriptedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? "/", "http://server");
  return {
    method: request.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks).toString("utf8"),
    clientName: clientName(request.socket),
  };
}

function clientName(socket: Socket): string | undefined {
  const tls = socket as Socket & {
    authorized?: boolean;
    getPeerCertificate?: () => { subject?: { CN?: string } };
  };
  return tls.authorized ? tls.getPeerCertificate?.().subject?.CN : undefined;
}
