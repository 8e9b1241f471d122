/**
 * One agent a mesh link: who serves a link holds a socket with its name, in the abstract namespace that belongs to the network namespace.
 * The kernel gives it back when the process ends, however it ends; a process that is stopped still holds it.
 */
import { connect, createServer } from "node:net";
import { AGENT_SOCKET } from "../mesh/index.ts";
import { HostError } from "./host-error.ts";

/**
 * Takes the link for this process. Resolves to what gives it back.
 * @throws HostError when another kg serves it
 */
export async function takeLink(link: string): Promise<() => Promise<void>> {
  const server = createServer((connection) => connection.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EADDRINUSE") reject(cause);
      else
        reject(
          new HostError(`cannot start: another kg serves ${link} on this host; stop it first`, { cause }),
        );
    });
    server.listen({ path: socketName(link) }, resolve);
  });
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/** Whether a kg, running or stopped by a signal, serves the link. */
export function isTaken(link: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path: socketName(link) });
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
}

function socketName(link: string): string {
  return `\0${AGENT_SOCKET}${link}`;
}
