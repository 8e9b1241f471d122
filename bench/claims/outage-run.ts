/** Another run of the demo's mesh, beside the first: the API server goes away, then a node becomes stale. Mostly waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntilStill } from "../../src/lab/index.ts";
import { BEHIND_NAT, DemoMesh } from "./demo-mesh.ts";
import { peersRemoved, waitUntilReady } from "./quiet-run.ts";

/** Seconds for which nobody reaches the API server: longer than the 60 s after which a node counts as gone. */
const AWAY = 90;

/** Milliseconds until a node whose agent is dead must be left out: 60 s without check-in, and a resync. */
const STALE = 100_000;

export interface OutageRun {
  readonly away: { readonly lost: number; readonly peersRemoved: number; readonly notReady: number };
  /** Packets in clear, from before the first agent started until the stale node was back. */
  readonly leaks: readonly string[];
}

export async function outageRun(): Promise<OutageRun> {
  const mesh = await DemoMesh.build();
  try {
    const capture = await mesh.watchWires();
    await mesh.start();
    await waitUntilStill(mesh.lab.nodes);
    const away = await withoutApi(mesh);
    await withStaleNode(mesh);
    return { away, leaks: await capture.stop() };
  } finally {
    await mesh.stop();
  }
}

async function withoutApi(mesh: DemoMesh): Promise<OutageRun["away"]> {
  const streams = [await mesh.stream("north-2", "south-2"), await mesh.stream(BEHIND_NAT, "north-1")];
  const before = await mesh.devices();
  const heal = await mesh.lab.faults.cut("api");
  await sleep(AWAY * 1_000);
  let notReady = 0;
  for (const node of mesh.lab.nodes) {
    const { status } = await (await node.prober()).http("http://127.0.0.1:1107/health");
    if (status !== 200) notReady += 1;
  }
  await heal();
  // Until every agent has found the server again: the pauses between tries grow to half a minute.
  await sleep(35_000);
  const results = await Promise.all(streams.map((stream) => stream.stop()));
  const after = await mesh.devices();
  const lost = results.reduce((sum, result) => sum + result.lost, 0);
  return { lost, peersRemoved: peersRemoved(before, after), notReady };
}

async function withStaleNode(mesh: DemoMesh): Promise<void> {
  const node = mesh.lab.host(BEHIND_NAT);
  const streams = [await mesh.stream("north-2", BEHIND_NAT), await mesh.stream(BEHIND_NAT, "south-1")];
  await node.kg?.kill();
  await waitUntilLeftOut(mesh);
  await sleep(2_000);
  for (const stream of streams) await stream.stop();
  await node.startKg();
  await waitUntilReady(node);
  await mesh.waitForAllPaths();
}

/** Until no other leader has a peer for the stale node. */
async function waitUntilLeftOut(mesh: DemoMesh): Promise<void> {
  const end = Date.now() + STALE;
  while (Date.now() < end) {
    const north = (await mesh.devices()).get("north-1");
    if (north?.size === 2) return;
    await sleep(500);
  }
  throw new Error(`${BEHIND_NAT} is not left out ${STALE / 1000} s after its agent died`);
}
