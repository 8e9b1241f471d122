/** Talks to a userspace WireGuard over its UNIX socket, one request a connection. */
import { createConnection } from "node:net";
import { join } from "node:path";
import type { DeviceChange, DeviceStatus } from "../../wireguard/index.ts";
import { DeviceError, refusal } from "./errors.ts";
import { decodeGet, decodeSetReply, encodeSet, GET_REQUEST } from "./uapi.ts";

/** Where wireguard-go and `wg` look for sockets; not configurable in either. */
export const SOCKET_FOLDER = "/var/run/wireguard";

/** A device of 2,000 peers answers within 0.4 s on a slow machine (libraries.md §3); a device that hangs is seen by the next pass. */
const REQUEST_TIMEOUT_MS = 5_000;

/** 2,000 peers take 0.7 MB; 20 times that is no device of ours. */
const LARGEST_REPLY = 16 * 1024 * 1024;

/** Errors of `connect` that mean: nobody listens. */
const NOBODY = new Set(["ENOENT", "ECONNREFUSED", "ENOTSOCK"]);

/** The socket of a device. */
export function socketPath(name: string, folder: string = SOCKET_FOLDER): string {
  return join(folder, `${name}.sock`);
}

/**
 * Reads the device; undefined when nobody listens on its socket. Throws `DeviceError`: `DEVICE_TIMEOUT` without an answer.
 * @param timeoutMs milliseconds
 */
export async function readUserspace(
  path: string,
  signal?: AbortSignal,
  timeoutMs: number = REQUEST_TIMEOUT_MS,
): Promise<DeviceStatus | undefined> {
  const reply = await exchange(path, GET_REQUEST, signal, timeoutMs);
  return reply === undefined ? undefined : decodeGet(reply);
}

/** Sends exactly this change. Throws `DeviceError`: `DEVICE_BUSY_PORT` when the listen port is taken. */
export async function setUserspace(
  name: string,
  path: string,
  change: DeviceChange,
  signal?: AbortSignal,
): Promise<void> {
  const reply = await exchange(path, encodeSet(change), signal);
  if (reply === undefined)
    throw new DeviceError("DEVICE_MISSING", `cannot configure ${name}: nobody serves it (${path})`);
  const errno = decodeSetReply(reply);
  if (errno !== 0) throw refusal(name, errno, change.listenPort);
}

/** Whether somebody listens on the socket, asked without sending anything. */
export async function isServed(path: string, signal?: AbortSignal): Promise<boolean> {
  return (await exchange(path, undefined, signal)) !== undefined;
}

/** One connection: sends `text` and reads until the empty line. Undefined when nobody listens; without text it only connects. */
function exchange(
  path: string,
  text: string | undefined,
  signal: AbortSignal | undefined,
  timeoutMs: number = REQUEST_TIMEOUT_MS,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const socket = createConnection(path);
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => fail(timeout(path, timeoutMs)), timeoutMs);
    const onAbort = () => fail(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });

    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      socket.destroy();
    }
    function fail(error: unknown): void {
      end();
      reject(error);
    }
    function done(reply: string | undefined): void {
      end();
      resolve(reply);
    }

    socket.on("connect", () => {
      if (text === undefined) done("");
      else socket.write(text);
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > LARGEST_REPLY)
        fail(new DeviceError("DEVICE_REPLY", `cannot read ${path}: the reply is too long`));
      else if (endsReply(chunks)) done(Buffer.concat(chunks).toString("latin1"));
    });
    socket.on("end", () =>
      fail(new DeviceError("DEVICE_REPLY", `cannot read ${path}: the reply was cut short`)),
    );
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (NOBODY.has(error.code ?? "")) done(undefined);
      else
        fail(new DeviceError("DEVICE_REPLY", `cannot talk to ${path}: ${error.message}`, { cause: error }));
    });
  });
}

/** The empty line may be split over two chunks. */
function endsReply(chunks: readonly Buffer[]): boolean {
  const last = chunks.at(-1);
  if (last === undefined) return false;
  if (last.length >= 2) return last.subarray(-2).toString("latin1") === "\n\n";
  return last.toString("latin1") === "\n" && chunks.at(-2)?.at(-1) === 10;
}

function timeout(path: string, timeoutMs: number): DeviceError {
  return new DeviceError("DEVICE_TIMEOUT", `cannot talk to ${path}: no answer in ${timeoutMs / 1000} s`);
}
