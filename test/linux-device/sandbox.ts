/**
 * The tests of this folder change links, firewalls and processes, so they run only in network and mount namespaces of their own, with an
 * empty folder for WireGuard's sockets; scripts/suites.mjs makes both. Whatever they leave behind ends with the namespaces.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Throws when this process shares its network or mount namespace with whoever started the suite. Named network namespaces that are made from
 * now on are not seen outside.
 */
export function assertSandbox(): void {
  for (const kind of ["net", "mnt"]) {
    const own = readlinkSync(`/proc/self/ns/${kind}`);
    const others = ancestors()
      .map((pid) => namespaceOf(pid, kind))
      .filter((other) => other !== undefined);
    assert.ok(
      others.some((other) => other !== own),
      `these tests need a ${kind} namespace of their own: node scripts/suites.mjs linux-device`,
    );
  }
  if (/ \/run\/netns tmpfs /.test(readFileSync("/proc/self/mounts", "utf8"))) return;
  mkdirSync("/run/netns", { recursive: true });
  run("mount -t tmpfs t /run/netns");
}

/** The processes that started this one, nearest first. */
function ancestors(): number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 0; ) {
    found.push(pid);
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces; state and parent follow it.
    pid = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  }
  return found;
}

/** Undefined when it may not be seen. */
function namespaceOf(pid: number, kind: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`);
  } catch {
    return undefined;
  }
}

/** Runs one command line (no quotes) and returns what it prints. Throws when it fails. */
export function run(line: string, input = ""): string {
  const [program = "", ...words] = line.split(" ");
  return execFileSync(program, words, { encoding: "utf8", input, stdio: ["pipe", "pipe", "pipe"] });
}

/** Runs several command lines, one a line. */
export function runAll(lines: string): void {
  for (const line of lines.split("\n")) if (line.trim() !== "") run(line.trim());
}

/** Whether the command succeeds. */
export function succeeds(line: string): boolean {
  try {
    run(line);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the condition holds. Throws, and says what was waited for, when the time is over. */
export async function until(
  what: string,
  condition: () => Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `waited too long for ${what}`);
    await sleep(10);
  }
}
