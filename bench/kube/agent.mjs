// The measured process of bench/kube.mjs: reflectors of nodes and peers, and nothing else. Prints one line when synced, one at the end.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createKubeClient,
  createReflector,
  NODES,
  PEERS,
  projectNode,
  projectPeer,
} from "../../src/kube/index.ts";

/** After this the garbage of the list is collected, and figures compare with those of specs that waited as long. */
const SETTLE_MS = 700;

main();

async function main() {
  const [server, folder, mode, seconds] = process.argv.slice(2);
  const start = performance.now();
  if (mode === "empty") {
    await sleep(SETTLE_MS);
    report(0);
    report(0);
    process.exit(0);
  }
  const ca = readFileSync(join(folder, "ca.crt"), "utf8");
  const client = createKubeClient({ config: { server, source: "bench", credentials: () => ({ ca }) } });
  await Promise.all([
    follow(client, NODES, projectNode("topology.kubernetes.io/region"), mode),
    follow(client, PEERS, projectPeer, mode),
  ]);
  const ms = performance.now() - start;
  await sleep(SETTLE_MS);
  report(ms);
  await sleep(Number(seconds) * 1_000);
  report(ms);
  process.exit(0);
}

function follow(client, resource, project, mode) {
  return new Promise((resolve) => {
    const watchList = mode === "watchlist";
    createReflector({ client, resource, project, watchList, onSynced: resolve }).start();
  });
}

function report(ms) {
  const status = readFileSync("/proc/self/status", "utf8");
  const megabytes = (field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
  const { user, system } = process.cpuUsage();
  const figures = {
    rss: megabytes("VmRSS"),
    anon: megabytes("RssAnon"),
    peak: megabytes("VmHWM"),
    cpu: (user + system) / 1_000,
    ms,
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
