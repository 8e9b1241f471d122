/** A network namespace of the test run's own, and hosts in it. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import type { HostDriver } from "../../src/linux/index.ts";

/** What a fresh namespace has: not links, and the tunnels that some kernels make in each. */
const FRESH = /^(all|default|lo|(ifb|sit|tunl|ip6tnl|gre|gretap|erspan|ip_vti|ip6_vti|ip6gre)\d)$/;

/**
 * Throws when the process is not in a fresh network namespace: these tests change links and routes, and the machine's own are not theirs.
 * `node scripts/suites.mjs linux` makes one.
 */
export function requireFreshNamespace(): void {
  const links = readdirSync("/proc/sys/net/ipv4/conf").filter((name) => !FRESH.test(name));
  if (links.length === 0) return;
  throw new Error(
    `cannot test here: this network namespace has links (${links.join(", ")}); run node scripts/suites.mjs linux`,
  );
}

/** Runs `ip` with these words; its output. */
export function ip(words: string): string {
  return execFileSync("ip", words.split(" "), { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs many `ip` commands in one process. */
export function ipBatch(lines: readonly string[]): void {
  execFileSync("ip", ["-batch", "-"], { input: `${lines.join("\n")}\n`, stdio: ["pipe", "ignore", "pipe"] });
}

/** Makes the private link of a host, with a default route. */
export function makeUplink(): void {
  ipBatch([
    "link set lo up",
    "link add eth0 type veth peer name eth0p",
    "link set eth0p up",
    "link set eth0 up",
    "addr add 10.0.0.1/24 dev eth0",
    "addr add fd00::1/64 dev eth0 nodad",
    "route add default via 10.0.0.254 dev eth0",
  ]);
}

/** Removes the links of a host, and the routes and rules that a test left behind. */
export function emptyNamespace(): void {
  for (const name of ["eth0", "kilo0"]) removeLink(name);
  for (const family of ["-4", "-6"]) {
    ip(`${family} route flush table all proto 171`);
    for (const line of ip(`${family} rule list`).split("\n")) {
      const priority = line.split(":")[0] ?? "";
      if (line.includes("11070:")) ip(`${family} rule del priority ${priority}`);
    }
  }
}

/** Waits until events of all that was done so far must have been told: two turns of the event loop after the kernel queued them. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 40));
}

/** Waits until a condition holds; throws with `what` after two seconds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`never came: ${what}`);
}

/** Kinds of events that a driver tells, from now on. */
export function listenTo(driver: HostDriver): string[] {
  const kinds: string[] = [];
  driver.watch((event) => kinds.push(event.kind));
  return kinds;
}

function removeLink(name: string): void {
  try {
    ip(`link del ${name}`);
  } catch {
    // Most tests leave none behind.
  }
}
