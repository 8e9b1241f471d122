/** The calls below the socket: the native addon, or a fake of it in tests. */
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/** What addon.c exports. Every call returns a result ≥ 0, or a negative errno. */
export interface NetlinkPort {
  /** Opens a socket. `groups` is a bit mask (bit n-1 is group n); `buffer`: bytes for receiving and for sending, 0 is the system's default. */
  open(protocol: number, groups: number, buffer: number): number;
  /** The port id of the socket. */
  port(fd: number): number;
  send(fd: number, bytes: Uint8Array): number;
  /** Reads one datagram; its length, or -EAGAIN when there is none, or -EMSGSIZE when it was longer than `into`. */
  recv(fd: number, into: Uint8Array): number;
  /** Calls back whenever there is something to read (status 0) or the socket has an error (status < 0), until `close`. */
  poll(fd: number, callback: (status: number) => void): number;
  close(fd: number): number;
}

/** Why the addon could not be loaded, and what to do. */
export class AddonError extends Error {
  override readonly name = "AddonError";
  readonly code = "NETLINK_ADDON";
}

let loaded: NetlinkPort | undefined;

/**
 * The native port. Looked for in this order: the file named by the environment variable KILOMESH_NETLINK, `netlink.node` beside
 * the running program, `dist/netlink.node` below the working directory. Throws AddonError.
 */
export function nativePort(): NetlinkPort {
  loaded ??= loadPort(addonPath());
  return loaded;
}

/** The addon in this file. Throws AddonError. */
export function loadPort(path: string): NetlinkPort {
  try {
    const port: unknown = createRequire(path)(path);
    if (isPort(port)) return port;
  } catch (cause) {
    throw new AddonError(`cannot load the netlink addon: ${reason(cause)} (${path}; run \`make build\`)`, {
      cause,
    });
  }
  throw new AddonError(
    `cannot load the netlink addon: it is another version's (${path}; run \`make build\`)`,
  );
}

function addonPath(): string {
  const named = process.env.KILOMESH_NETLINK;
  if (named !== undefined && named !== "") return resolve(named);
  const program = process.argv[1];
  const places = [
    ...(program !== undefined && existsSync(program)
      ? [join(dirname(realpathSync(program)), "netlink.node")]
      : []),
    join(process.cwd(), "dist", "netlink.node"),
  ];
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new AddonError(
    `cannot load the netlink addon: no file at ${places.join(" or ")} (run \`make build\`)`,
  );
}

function isPort(value: unknown): value is NetlinkPort {
  if (typeof value !== "object" || value === null) return false;
  return ["open", "port", "send", "recv", "poll", "close"].every(
    (name) => typeof Reflect.get(value, name) === "function",
  );
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
