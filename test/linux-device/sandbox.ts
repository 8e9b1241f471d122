/**
 * The tests of this folder change links, firewalls and processes, so they run only in fresh network and mount namespaces:
 *
 *   unshare --net --mount --fork --kill-child sh -c 'mount -t tmpfs t /var/run/wireguard; mount -t tmpfs t /run/netns; node scripts/test.mjs …'
 *
 * Whatever they leave behind ends with the namespaces.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";

/** Throws when this process is in a namespace that somebody else uses. */
export function assertSandbox(): void {
  const links = readdirSync("/proc/sys/net/ipv4/conf").filter(
    (name) => !["all", "default", "lo"].includes(name),
  );
  const kernels = [
    "ifb0",
    "ifb1",
    "sit0",
    "tunl0",
    "ip6tnl0",
    "gre0",
    "gretap0",
    "erspan0",
    "ip_vti0",
    "ip6_vti0",
    "ip6gre0",
  ];
  const foreign = links.filter((name) => !kernels.includes(name) && !name.startsWith("t-"));
  assert.deepEqual(foreign, [], "this is not a fresh network namespace");
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
