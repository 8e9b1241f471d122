/** The server behind the door: listeners, and what tests do to it. */

import { rm } from "node:fs/promises";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, isIPv6, type ListenOptions, type Socket } from "node:net";
import { handle, type Parts } from "./handler.ts";
import type { ApiServerOptions, PauseMode } from "./options.ts";

/** Go's HTTP server keeps idle connections this long; Node's 5 s would cut clients that pause for a moment. */
const KEEP_ALIVE_MS = 90_000;

/** The server cannot listen, e.g. because the port is taken; the message names the address. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly code = "LISTEN";
}

/** The listeners of one API server: TCP, and a unix socket if there is a path for it. */
export class Listeners {
  readonly #options: ApiServerOptions;
  readonly #parts: Parts;
  readonly #sockets = new Set<Socket>();
  #servers: Server[] = [];
  #port: number;
  #hanging = false;

  constructor(options: ApiServerOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#port = options.port ?? 0;
  }

  /** The address clients use; the port is the one taken when the options asked for 0. */
  get url(): string {
    const host = this.#options.host ?? "127.0.0.1";
    const shown = isIPv6(host) ? `[${host}]` : host;
    return `${this.#options.tls === undefined ? "http" : "https"}://${shown}:${this.#port}`;
  }

  /** Listens; throws ListenError. */
  async open(): Promise<void> {
    const tcp = this.#makeServer();
    await listen(tcp, { host: this.#options.host ?? "127.0.0.1", port: this.#port });
    this.#servers = [tcp];
    this.#port = (tcp.address() as AddressInfo).port;
    const { socketPath } = this.#options;
    if (socketPath === undefined) return;
    // A socket file that a killed process left behind would make the path taken for ever.
    await rm(socketPath, { force: true });
    const unix = this.#makeServer();
    this.#servers.push(unix);
    await listen(unix, { path: socketPath }).catch(async (error) => {
      await this.close();
      throw error;
    });
  }

  /** Stops listening and cuts every connection. */
  async close(): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
    this.cutConnections();
    await Promise.all(closed);
  }

  /** Cuts every connection, as a restart of the server would. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** `refuse`: nothing listens; `hang`: connections are taken and nothing is ever said on them. */
  async pause(mode: PauseMode): Promise<void> {
    if (mode === "refuse") return this.close();
    this.#hanging = true;
    for (const watch of this.#parts.watches) watch.silence();
  }

  /** Ends a pause of either mode. */
  async resume(): Promise<void> {
    if (this.#hanging) this.cutConnections();
    this.#hanging = false;
    if (this.#servers.length === 0) await this.open();
  }

  #makeServer(): Server {
    const { tls } = this.#options;
    const server =
      tls === undefined
        ? createHttpServer()
        : createHttpsServer({
            cert: tls.cert,
            key: tls.key,
            ...(tls.clientCa !== undefined && {
              ca: tls.clientCa,
              requestCert: true,
              rejectUnauthorized: false,
            }),
          });
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.on("request", (request, response) => {
      if (!this.#hanging) handle(this.#parts, request, response).catch(() => response.destroy());
    });
    server.on("connection", (socket: Socket) => this.#track(socket));
    return server;
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

async function listen(server: Server, where: ListenOptions): Promise<void> {
  const shown = where.path ?? `${where.host}:${where.port}`;
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error): void => {
      reject(new ListenError(`cannot listen on ${shown}: ${error.message}`, { cause: error }));
    };
    server.once("error", refuse);
    server.listen(where, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}
