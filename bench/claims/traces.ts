/** What a lab could leave on the machine: files, processes, namespaces, mounts, and changes of the machine's own network. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A line for each thing that is there. */
export type Traces = ReadonlySet<string>;

/** Milliseconds that the kernel and its helpers may take to end what was told to end. */
const PATIENCE = 5_000;

/** The machine's own network, as text that does not change by itself. */
const NETWORK: readonly (readonly [string, ...string[]])[] = [
  ["ip", "netns"],
  ["ip", "-br", "addr"],
  ["ip", "rule"],
  ["ip", "route", "show", "table", "all"],
  ["nft", "-s", "list", "ruleset"],
];

export function traces(): Traces {
  return new Set([...network(), ...files(), ...mounts(), ...processes()]);
}

/**
 * What has come since, and what is gone of the machine's own network. Nothing else may make network namespaces meanwhile.
 * @param patience milliseconds to wait for all of it to vanish
 */
export async function changedSince(before: Traces, patience = PATIENCE): Promise<readonly string[]> {
  const end = Date.now() + patience;
  for (;;) {
    const now = traces();
    const come = [...now].filter((trace) => !before.has(trace));
    const gone = [...before].filter((trace) => trace.startsWith("network: ") && !now.has(trace));
    const changed = [...come, ...gone.map((trace) => `gone: ${trace}`)];
    if (changed.length === 0 || Date.now() >= end) return changed;
    await sleep(100);
  }
}

function network(): string[] {
  return NETWORK.flatMap(([program, ...args]) => {
    const lines = execFileSync(program, args, { encoding: "utf8" }).split("\n");
    return lines.map((line) => `network: ${program} ${args.join(" ")}: ${line.trim()}`);
  });
}

function files(): string[] {
  const folders = readdirSync("/tmp").filter((name) => name.startsWith("kilomesh-lab."));
  const sockets = entries("/run/wireguard").filter((name) => name.endsWith(".sock"));
  return [...folders.map((name) => `folder /tmp/${name}`), ...sockets.map((name) => `socket ${name}`)];
}

function mounts(): string[] {
  const lines = readFileSync("/proc/mounts", "utf8").split("\n");
  return lines.filter((line) => line.includes("kilomesh")).map((line) => `mount ${line}`);
}

/** Programs of Kilomesh, and every network namespace in which a process runs. */
function processes(): string[] {
  return entries("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const command = readOr(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
      const namespace = readOr(() => readlinkSync(`/proc/${pid}/ns/net`));
      const ours = /dist\/(kg|lab)\.cjs|wireguard-go|kilomesh-lab\./.test(command);
      return [`network namespace ${namespace}`, ...(ours ? [`process ${pid} ${command}`] : [])];
    });
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A process may end between being listed and being looked at. */
function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
