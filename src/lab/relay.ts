/** Relays: bytes from one listening socket to another address, both ways. How people on the machine reach into a lab. */
import {
  connect,
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  type Server,
  type Socket,
} from "node:net";

export interface Relay {
  /** The TCP port it listens on; 0 for a UNIX socket. */
  readonly port: number;
  /** Ends it and every connection. Idempotent. */
  close(): Promise<void>;
}

/** Starts a relay. Every connection that comes in gets one of its own to `target`. */
export async function startRelay(listen: ListenOptions, target: NetConnectOpts): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => join(incoming, connect(target), sockets));
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(listen, resolve);
  });
  return {
    port: portOf(server),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function join(incoming: Socket, outgoing: Socket, sockets: Set<Socket>): void {
  for (const [socket, other] of [
    [incoming, outgoing],
    [outgoing, incoming],
  ] as const) {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.pipe(other);
    socket.on("error", () => other.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
