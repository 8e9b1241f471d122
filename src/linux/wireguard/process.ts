/** Finds the wireguard-go of a device, without trusting a pid file. */
import { readdir, readFile, readlink } from "node:fs/promises";

/**
 * The pid of the wireguard-go that serves this link in our own network namespace, where the name is unique; undefined when there is none.
 * Other hosts on one machine (a lab) have devices of the same name.
 */
export async function processOfDevice(name: string): Promise<number | undefined> {
  const own = await networkOf("self");
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    if (!(await servesDevice(pid, name))) continue;
    if ((await networkOf(pid)) === own) return Number(pid);
  }
  return undefined;
}

/** Whether this process of our own network namespace has a socket that was bound to this path. */
export async function holdsSocket(pid: number, path: string): Promise<boolean> {
  try {
    const bound = socketsAt(await readFile("/proc/self/net/unix", "utf8"), path);
    const held = await Promise.all(
      (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")),
    );
    return held.some((target) => bound.has(target));
  } catch {
    return false;
  }
}

/** What a process is at (proc(5)). */
export interface ProcessActivity {
  /** One letter: R, S, D, T, t, Z, ... */
  readonly state: string;
  /** Processor time it has used so far, in clock ticks of mostly 10 ms: all threads, user and system. */
  readonly ticks: number;
}

/** Undefined when there is no such process. */
export async function activityOf(pid: number): Promise<ProcessActivity | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name in parentheses may hold spaces; the third field, the state, follows it, and the 14th and 15th are utime and stime.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", ticks: Number(fields[11]) + Number(fields[12]) };
}

/** As `/proc/PID/fd` names them. Lines: address, references, protocol, flags, type, state, inode, path. */
function socketsAt(table: string, path: string): Set<string> {
  const lines = table.split("\n").map((line) => line.trim().split(/\s+/));
  return new Set(lines.filter((words) => words[7] === path).map((words) => `socket:[${words[6]}]`));
}

/** By the command line: `wireguard-go [-f|--foreground] NAME`. A process that vanishes meanwhile is none. */
async function servesDevice(pid: string, name: string): Promise<boolean> {
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").filter((word) => word !== "");
    return words.length <= 3 && words.at(-1) === name && words[0]?.split("/").at(-1) === "wireguard-go";
  } catch {
    return false;
  }
}

async function networkOf(pid: string): Promise<string | undefined> {
  try {
    return await readlink(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}
