/**
 * The life of a `wireguard-go` that outlives the agent: a session of its own, no pipe to the agent (a closed pipe would end it),
 * found again by its socket, adopted without one `set`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { requireTools } from "../tools.ts";
import { DeviceError } from "./errors.ts";
import { processOfDevice } from "./process.ts";
import { isServed, socketPath } from "./uapi-client.ts";

/** wireguard-go answers 20 to 60 ms after its start; 2 s is for a machine that is busy with everything else at boot. */
const START_TIMEOUT_MS = 2_000;

/** After its socket is removed wireguard-go ends within milliseconds; a process that does not is ended by signal. */
const END_TIMEOUT_MS = 1_000;

/** Short against the start-up time, long enough to cost nothing. */
const POLL_MS = 10;

export interface UserspaceOptions {
  /** Name of the link. */
  readonly name: string;
  /** Folder of the sockets. @default /var/run/wireguard */
  readonly socketFolder?: string | undefined;
  /** Search path for the program. @default $PATH */
  readonly path?: string | undefined;
}

/** How the device came to be: `adopted` was served already and was not touched. */
export type Started = "adopted" | "started";

/**
 * Sees to it that somebody serves the device. Throws `MissingToolError`, or `DeviceError` `DEVICE_START` with the reason: no /dev/net/tun,
 * a foreign link of that name, or whatever wireguard-go ended with.
 */
export async function startUserspace(options: UserspaceOptions, signal: AbortSignal): Promise<Started> {
  const socket = socketPath(options.name, options.socketFolder);
  if (await isServed(socket, signal)) return "adopted";
  const program = requireTools(["wireguard-go"], options.path)["wireguard-go"];
  await checkTun(options.name);
  await checkNameIsFree(options.name);
  // What a killed wireguard-go leaves behind; the next one would clean it up as well, but then we would connect to the old one's file meanwhile.
  await rm(socket, { force: true });
  const child = launch(program, options.name);
  try {
    await waitUntilServed(options.name, socket, child, signal);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return "started";
}

/** Ends whoever serves the device; its link vanishes with it. Resolves to whether there was one. */
export async function stopUserspace(options: UserspaceOptions): Promise<boolean> {
  const socket = socketPath(options.name, options.socketFolder);
  const served = await isServed(socket);
  const pid = await processOfDevice(options.name);
  // wireguard-go watches its socket's folder and ends when the socket is removed.
  await rm(socket, { force: true });
  if (pid === undefined) return served;
  const ended = await waitUntil(() => !existsSync(`/proc/${pid}`), END_TIMEOUT_MS);
  if (!ended && (await processOfDevice(options.name)) === pid) process.kill(pid, "SIGKILL");
  await waitUntil(() => !linkExists(options.name), END_TIMEOUT_MS);
  return true;
}

/** Silent: an error line per peer and handshake that fails would fill a disk; what matters is read from the device. */
function launch(program: string, name: string): ChildProcess {
  const child = spawn(program, ["-f", name], {
    detached: true,
    stdio: "ignore",
    cwd: "/",
    env: { PATH: process.env.PATH ?? "", LOG_LEVEL: "silent" },
  });
  child.unref();
  return child;
}

async function waitUntilServed(
  name: string,
  socket: string,
  child: ChildProcess,
  signal: AbortSignal,
): Promise<void> {
  let failure: Error | undefined;
  child.once("error", (error) => {
    failure = new DeviceError("DEVICE_START", `cannot start wireguard-go for ${name}: ${error.message}`, {
      cause: error,
    });
  });
  child.once("exit", (code, endedBy) => {
    const how = code === null ? `was ended by ${endedBy}` : `ended with exit code ${code}`;
    failure = new DeviceError(
      "DEVICE_START",
      `cannot start wireguard-go for ${name}: it ${how}; "LOG_LEVEL=error wireguard-go -f ${name}" says why`,
    );
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await isServed(socket, signal))) {
    if (failure !== undefined) throw failure;
    if (performance.now() > deadline) {
      throw new DeviceError(
        "DEVICE_TIMEOUT",
        `cannot start wireguard-go for ${name}: no socket in ${START_TIMEOUT_MS / 1000} s (${socket})`,
      );
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function checkTun(name: string): Promise<void> {
  try {
    const tun = await open("/dev/net/tun", "r+");
    await tun.close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DeviceError(
      "DEVICE_START",
      `cannot make ${name}: /dev/net/tun is needed for userspace WireGuard (${reason})`,
      { cause: error },
    );
  }
}

/** The link of a killed wireguard-go vanishes a moment after its socket has stopped to answer. */
async function checkNameIsFree(name: string): Promise<void> {
  if (await waitUntil(() => !linkExists(name), END_TIMEOUT_MS)) return;
  throw new DeviceError(
    "DEVICE_START",
    `cannot make ${name}: a link of this name exists that no wireguard-go serves; remove it with "ip link delete ${name}" or start kg with another --interface`,
  );
}

function linkExists(name: string): boolean {
  return existsSync(`/proc/sys/net/ipv4/conf/${name}`);
}

async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}
