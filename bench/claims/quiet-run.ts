/** One run of the demo's mesh, disturbed in one way after the other: at rest, objects change, programs are killed, all agents stop. */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fingerprint, type LabHost, waitUntilStill } from "../../src/lab/index.ts";
import {
  cpuOf,
  type DemoMesh,
  type Device,
  type Memory,
  DemoMesh as Mesh,
  memoryOf,
  metricOf,
} from "./demo-mesh.ts";
import { KG_NODE_FLAGS } from "./machine.ts";
import { changeObjects } from "./object-changes.ts";

/** Milliseconds: ten resyncs of the agents that resync every 3 s, and one of those that do it every 30 s. */
const REST = 33_000;

/** The node whose agent runs with the defaults, so that its costs at rest are what users see. */
const AT_REST = "south-2";

/** Seconds for which no agent runs: longer than the 60 s after which a node counts as gone. */
const STOPPED = 90;

export interface Rest {
  /** Passes that changed something on a host. */
  readonly applies: number;
  readonly publishes: number;
  /** Check-ins beyond one in 30 s for each agent. */
  readonly extraCheckIns: number;
  readonly memory: readonly Memory[];
  /** What Node.js needs for nothing. */
  readonly floor: Memory;
  /** Of one core. */
  readonly cpuPercent: number;
}

export interface QuietRun {
  readonly rest: Rest;
  /** Peers that lost their session or were changed although the change was not about them. */
  readonly otherPeersTouched: readonly string[];
  readonly killedAgent: { readonly lost: number; readonly rewritten: number };
  /** Seconds without an answer, for each of three killed tunnels. */
  readonly killedTunnels: readonly number[];
  readonly lostElsewhere: number;
  readonly stopped: { readonly lost: number; readonly peersRemoved: number };
  /** Packets in clear, from before the first agent started until the last disturbance was over. */
  readonly leaks: readonly string[];
}

export async function quietRun(): Promise<QuietRun> {
  const mesh = await Mesh.build();
  try {
    const capture = await mesh.watchWires();
    await mesh.start(({ name }) => (name === AT_REST ? [] : ["--resync-period=3s"]));
    await waitUntilStill(mesh.lab.nodes);
    const rest = await lookAtRest(mesh);
    const otherPeersTouched = await changeObjects(mesh);
    const killedAgent = await killAgent(mesh, "north-1");
    const killed = [
      await killTunnel(mesh, { node: "north-1", to: "south-1", elsewhere: ["south-2", "home-1"] }),
      await killTunnel(mesh, { node: "south-1", to: "home-1", elsewhere: ["north-2", "home-1"] }),
      await killTunnel(mesh, { node: "home-1", to: "north-1", elsewhere: ["north-2", "south-2"] }),
    ];
    await deleteLink(mesh, "south-1");
    const stopped = await stopAllAgents(mesh);
    const leaks = await capture.stop();
    return {
      rest,
      otherPeersTouched,
      killedAgent,
      killedTunnels: killed.map(({ seconds }) => seconds),
      lostElsewhere: killed.reduce((sum, { lostElsewhere }) => sum + lostElsewhere, 0),
      stopped,
      leaks,
    };
  } finally {
    await mesh.stop();
  }
}

async function lookAtRest(mesh: DemoMesh): Promise<Rest> {
  const agent = pidOf(mesh.lab.host(AT_REST));
  const read = async () => ({
    applies: await mesh.metric("kilomesh_applies_total"),
    publishes: await mesh.metric("kilomesh_api_writes_total", 'kind="publish"'),
    checkIns: await Promise.all(
      mesh.lab.nodes.map((node) => metricOf(node, "kilomesh_api_writes_total", 'kind="checkin"')),
    ),
    cpu: cpuOf(agent),
  });
  const before = await read();
  await sleep(REST);
  const after = await read();
  const allowed = Math.ceil(REST / 30_000);
  const extra = after.checkIns.map((count, index) => count - (before.checkIns[index] ?? 0) - allowed);
  return {
    applies: after.applies - before.applies,
    publishes: after.publishes - before.publishes,
    extraCheckIns: extra.reduce((sum, count) => sum + Math.max(0, count), 0),
    memory: mesh.lab.nodes.map((node) => memoryOf(pidOf(node))),
    floor: await memoryOfNothing(),
    cpuPercent: ((after.cpu - before.cpu) / REST) * 100_000,
  };
}

/** A Node.js process that does nothing, with the options that `kg` is started with. */
async function memoryOfNothing(): Promise<Memory> {
  const child = spawn(process.execPath, [...KG_NODE_FLAGS, "-e", "setTimeout(() => {}, 60_000)"], {
    stdio: "ignore",
  });
  try {
    await sleep(1_000);
    return memoryOf(child.pid ?? 0);
  } finally {
    child.kill("SIGKILL");
  }
}

/** Kills the agent of a node with kill -9 and starts it again, while pings run through that node. */
async function killAgent(mesh: DemoMesh, name: string): Promise<QuietRun["killedAgent"]> {
  const node = mesh.lab.host(name);
  const stream = await mesh.stream("north-2", "south-2");
  const before = { host: await fingerprint(node), annotations: await announced(mesh, name) };
  await sleep(1_000);
  await node.restartKg();
  await waitUntilReady(node);
  await sleep(5_000);
  const applies = await metricOf(node, "kilomesh_applies_total");
  const changed = [
    (await fingerprint(node)) !== before.host,
    (await announced(mesh, name)) !== before.annotations,
  ];
  const { lost } = await stream.stop();
  return { lost, rewritten: applies + changed.filter((differs) => differs).length };
}

interface TunnelKill {
  readonly node: string;
  readonly to: string;
  /** From and to of a path that does not lead through the node. */
  readonly elsewhere: readonly [string, string];
}

/** Kills `wireguard-go` of a node. Resolves to how long its own path was silent. */
async function killTunnel(mesh: DemoMesh, { node, to, elsewhere: [from, other] }: TunnelKill) {
  const through = await mesh.stream(node, to);
  const elsewhere = await mesh.stream(from, other);
  await sleep(500);
  if (mesh.lab.host(node).signalProcesses("wireguard-go", "SIGKILL") !== 1)
    throw new Error(`there is not one wireguard-go on ${node}`);
  await sleep(9_000);
  const { longestGap } = await through.stop();
  const { lost } = await elsewhere.stop();
  await mesh.waitForAllPaths();
  return { seconds: longestGap / 1000, lostElsewhere: lost };
}

async function deleteLink(mesh: DemoMesh, node: string): Promise<void> {
  const stream = await mesh.stream(node, "north-1");
  await mesh.lab.faults.deleteLink(mesh.lab.host(node), "kilo0");
  await mesh.waitForAllPaths();
  await stream.stop();
}

/** Stops every agent for so long that all nodes look stale, and starts them again. */
async function stopAllAgents(mesh: DemoMesh): Promise<QuietRun["stopped"]> {
  const streams = [await mesh.stream("north-2", "south-2"), await mesh.stream("home-1", "north-1")];
  const before = await mesh.devices();
  await Promise.all(mesh.lab.nodes.map((node) => node.stopKg()));
  await sleep(STOPPED * 1_000);
  // One after the other, as an update rolls: the first ones see only nodes that look stale.
  for (const node of mesh.lab.nodes) {
    await node.startKg();
    await waitUntilReady(node);
    await sleep(1_000);
  }
  await sleep(3_000);
  const results = await Promise.all(streams.map((stream) => stream.stop()));
  const after = await mesh.devices();
  return {
    lost: results.reduce((sum, { lost }) => sum + lost, 0),
    peersRemoved: peersRemoved(before, after),
  };
}

/** Peers that are gone, or that were removed and made again: counters do not run backwards. */
export function peersRemoved(
  before: ReadonlyMap<string, Device>,
  after: ReadonlyMap<string, Device>,
): number {
  return [...before].reduce((sum, [node, device]) => {
    const now = after.get(node) ?? new Map();
    return (
      sum +
      [...device].filter(([key, was]) => !((now.get(key)?.receivedBytes ?? -1) >= was.receivedBytes)).length
    );
  }, 0);
}

export async function waitUntilReady(node: LabHost): Promise<void> {
  const prober = await node.prober();
  for (let tries = 0; tries < 200; tries++) {
    if ((await prober.http("http://127.0.0.1:1107/health")).status === 200) return;
    await sleep(50);
  }
  throw new Error(`kg on ${node.name} does not become ready: ${node.kg?.tail(3) ?? "it does not run"}`);
}

/** The node's annotations as text, without the check-in. */
async function announced(mesh: DemoMesh, name: string): Promise<string> {
  const { items } = await mesh.lab.controlPlane.objects();
  const node = items.find(({ kind, metadata }) => kind === "Node" && metadata.name === name);
  const annotations = Object.entries(node?.metadata.annotations ?? {});
  return annotations
    .filter(([key]) => !["kilo.squat.ai/last-seen", "kilomesh.io/agent"].includes(key))
    .map(([key, text]) => `${key}=${text}`)
    .sort()
    .join("\n");
}

function pidOf(node: LabHost): number {
  const { kg } = node;
  if (kg === undefined || !kg.running) throw new Error(`kg on ${node.name} does not run`);
  return kg.pid;
}
