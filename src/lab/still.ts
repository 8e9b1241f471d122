/** Stillness: a mesh at rest is one whose hosts have not changed for a while. Looked at from outside, not asked of the agents. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LabError } from "./errors.ts";
import type { LabHost } from "./host.ts";

export interface StillOptions {
  /** Milliseconds without a change. @default 1000: an agent debounces for 500 at the most */
  readonly quiet?: number | undefined;
  /** Milliseconds until it gives up. @default 30000 */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds between looks. A look costs some 10 ms of CPU a host. */
const INTERVAL = 200;

/** Addresses, routes of all tables, rules, firewall, and WireGuard without what traffic changes (counters, handshakes, endpoints learned). wireguard-go gives peers in any order. */
const LOOK = `
ip -o addr
ip route show table all
ip rule
nft -s list ruleset
for link in $(wg show interfaces); do wg show $link allowed-ips | sort; wg show $link listen-port; done
`;

/** Waits until no host has changed for a while, and tells how long that took from the call to the last change, in milliseconds. */
export async function waitUntilStill(hosts: readonly LabHost[], options: StillOptions = {}): Promise<number> {
  const quiet = options.quiet ?? 1000;
  const started = Date.now();
  let last = await lookAt(hosts);
  let changed = started;
  while (Date.now() - changed < quiet) {
    if (Date.now() - started > (options.timeout ?? 30_000)) {
      throw new LabError(
        "timeout",
        `cannot wait for stillness: hosts still change after ${Date.now() - started} ms`,
      );
    }
    await sleep(INTERVAL, undefined, { signal: options.signal });
    const now = await lookAt(hosts);
    if (now !== last) changed = Date.now();
    last = now;
  }
  return changed - started;
}

/** A short text that is the same while nothing on the host changes but traffic. */
export async function fingerprint(host: LabHost): Promise<string> {
  const { stdout } = await host.execute(["sh", "-c", LOOK]);
  return createHash("sha256").update(stdout).digest("base64");
}

async function lookAt(hosts: readonly LabHost[]): Promise<string> {
  return (await Promise.all(hosts.map((host) => fingerprint(host)))).join("\n");
}
