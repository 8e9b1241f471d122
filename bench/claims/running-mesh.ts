/** A running mesh: what it costs at rest, and what is lost when objects change and programs, links and servers go away. */
import type { Claim } from "./claim.ts";
import { once } from "./once.ts";
import { type OutageRun, outageRun } from "./outage-run.ts";
import { type QuietRun, quietRun, type Rest } from "./quiet-run.ts";

/** Both runs at once: they wait most of the time. */
const runs = once(async (): Promise<QuietRun & { readonly outage: OutageRun }> => {
  const [quiet, outage] = await Promise.all([quietRun(), outageRun()]);
  return { ...quiet, outage };
});

export const RUNNING_MESH_CLAIMS: readonly Claim[] = [
  count("at rest, ten resyncs: passes that change a host", ({ rest }) => rest.applies),
  count("at rest, ten resyncs: API writes other than check-ins", ({ rest }) => rest.publishes),
  count("at rest: check-ins beyond one in 30 s", ({ rest }) => rest.extraCheckIns),
  {
    name: "kg at rest, resident memory",
    kind: "size",
    goal: 60,
    unit: "MB",
    beside: async () => `Node.js alone ${megabytes((await runs()).rest, "resident")}, Kilo 43 MB`,
    measure: async () => (await runs()).rest.memory.map(({ resident }) => resident),
  },
  {
    name: "kg at rest, private memory",
    kind: "size",
    goal: 60,
    unit: "MB",
    beside: async () => `Node.js alone ${megabytes((await runs()).rest, "private")}, Kilo 9 MB`,
    measure: async () => (await runs()).rest.memory.map((memory) => memory.private),
  },
  {
    name: "kg at rest, CPU",
    kind: "size",
    goal: 1,
    unit: "% of a core",
    measure: async () => [(await runs()).rest.cpuPercent],
  },
  {
    ...count("one object changes: other WireGuard peers touched", (run) => run.otherPeersTouched.length),
    beside: async () => (await runs()).otherPeersTouched[0] ?? "eight changes, of Peers and Nodes",
  },
  count("kill -9 kg: pings of 100 a second lost", ({ killedAgent }) => killedAgent.lost),
  count("kill -9 kg: things rewritten on host and Node", ({ killedAgent }) => killedAgent.rewritten),
  {
    name: "kill -9 wireguard-go: silence on that node's paths",
    kind: "time",
    goal: 7,
    unit: "s",
    measure: async () => (await runs()).killedTunnels,
  },
  count("kill -9 wireguard-go: pings lost on other nodes' paths", (run) => run.lostElsewhere),
  count("all agents stopped for 90 s: pings lost", ({ stopped }) => stopped.lost),
  count("all agents stopped for 90 s: peers removed", ({ stopped }) => stopped.peersRemoved),
  count("API server away for 90 s: pings lost", ({ outage }) => outage.away.lost),
  count("API server away for 90 s: peers removed", ({ outage }) => outage.away.peersRemoved),
  count("API server away for 90 s: agents not ready", ({ outage }) => outage.away.notReady),
  {
    ...count("packets in clear between places: start, kills, link deleted, API away, node stale", (run) => {
      return run.leaks.length + run.outage.leaks.length;
    }),
    beside: async () => {
      const { leaks, outage } = await runs();
      return [...leaks, ...outage.leaks][0] ?? "captured on every wire between them";
    },
  },
];

function count(name: string, of: (run: QuietRun & { readonly outage: OutageRun }) => number): Claim {
  return { name, kind: "count", goal: 0, unit: "", measure: async () => [of(await runs())] };
}

function megabytes({ floor }: Rest, which: "resident" | "private"): string {
  return `${floor[which].toFixed(1)} MB`;
}
