/** One agent among 200 nodes in 40 places, on twins: what its decisions cost, without kernel and network. */
import { spawnSync } from "node:child_process";
import { keyOf, nodeOf } from "../../src/agent/cluster.test-kit.ts";
import { holdClock, releaseClock, Stage } from "../../src/agent/stage.test-kit.ts";
import type { NodeObject } from "../../src/mesh/index.ts";
import { type Claim, median } from "./claim.ts";
import { KG_NODE_FLAGS } from "./machine.ts";
import { once } from "./once.ts";

const PLACES = 40;
const NODES_A_PLACE = 5;

/** The argument with which the program measures once, in a process of its own: nothing is warm then, as in a fresh `kg`. */
export const AGENT_200 = "--agent-200";

/** Milliseconds that the agent has run before something changes: what runs often is compiled by then, as in every `kg` in use. */
const HOUR_MS = 3_600_000;

const CHANGES = 5;

interface Costs {
  readonly startMs: number;
  readonly startApplies: number;
  readonly changeMs: number;
  readonly changeCalls: number;
  readonly restCalls: number;
  readonly restWrites: number;
}

const measured = once(async () => [1, 2, 3].map(() => inFreshProcess()));

/** Kilo's own agent, measured with as many nodes and places. */
const KILO = { start: "Kilo: 62 s, 83 applies", change: "Kilo: 1000 ms" };

export const AGENT_200_CLAIMS: readonly Claim[] = [
  {
    name: "200 nodes in 40 places, first convergence, CPU",
    kind: "time",
    goal: 2,
    unit: "s",
    beside: async () => KILO.start,
    measure: async () => (await measured()).map(({ startMs }) => startMs / 1000),
  },
  count("200 nodes in 40 places, first convergence, applies", 1, ({ startApplies }) => startApplies),
  {
    name: "200 nodes in 40 places, one endpoint changes, CPU",
    kind: "time",
    goal: 20,
    unit: "ms",
    beside: async () => KILO.change,
    measure: async () => (await measured()).map(({ changeMs }) => changeMs),
  },
  count("200 nodes in 40 places, one endpoint changes, kernel calls", 1, ({ changeCalls }) => changeCalls),
  count(
    "200 nodes in 40 places, ten resyncs without a change, kernel calls",
    0,
    ({ restCalls }) => restCalls,
  ),
  count(
    "200 nodes in 40 places, ten resyncs without a change, API writes",
    0,
    ({ restWrites }) => restWrites,
  ),
];

/** Measures once, and prints the result for `inFreshProcess`. */
export async function measureAgent200(): Promise<void> {
  holdClock();
  const stage = new Stage({ nodes: nodes() });

  const beforeStart = process.cpuUsage();
  stage.agent.start();
  await stage.advance(1_000);
  const startMs = cpuSince(beforeStart);
  const startApplies = stage.applied.length;
  if (stage.device.peers.length !== PLACES - 1) throw new Error(`${stage.device.peers.length} peers`);

  await stage.advance(HOUR_MS);
  const calls = stage.host.mutations;
  const writes = stage.metric('kilomesh_api_writes_total{kind="publish"}');
  await stage.advance(300_000);
  const restCalls = stage.host.mutations - calls;
  const restWrites = stage.metric('kilomesh_api_writes_total{kind="publish"}') - writes;

  const changes: number[] = [];
  for (let change = 0; change < CHANGES; change++) {
    const beforeChange = process.cpuUsage();
    stage.cluster.annotate("p7-0", { "kilo.squat.ai/endpoint": `203.0.113.${change + 1}:51820` });
    await stage.advance(500);
    changes.push(cpuSince(beforeChange));
  }
  const changeMs = median(changes);
  const changeCalls = (stage.host.mutations - calls - restCalls) / CHANGES;
  const costs: Costs = { startMs, startApplies, changeMs, changeCalls, restCalls, restWrites };
  await stage.agent.stop();
  releaseClock();
  console.log(JSON.stringify(costs));
}

function inFreshProcess(): Costs {
  const program = process.argv[1] ?? "";
  const { status, stdout, stderr } = spawnSync(process.execPath, [...KG_NODE_FLAGS, program, AGENT_200], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the measuring process ended with ${status}: ${stderr.trim()}`);
  return JSON.parse(stdout) as Costs;
}

function count(name: string, goal: number, of: (costs: Costs) => number): Claim {
  return {
    name,
    kind: "count",
    goal,
    unit: "",
    measure: async () => [Math.max(...(await measured()).map(of))],
  };
}

/** Milliseconds. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** `a1`, on which the agent runs, is in a place with four others; one node of every place has a public address. */
function nodes(): NodeObject[] {
  const own = nodeOf({ name: "a1", location: "p0", podCIDR: "10.244.0.0/24" });
  const others = Array.from({ length: PLACES * NODES_A_PLACE - 1 }, (_, index) => otherNode(index + 1));
  return [own, ...others];
}

function otherNode(number: number): NodeObject {
  const place = Math.floor(number / NODES_A_PLACE);
  const member = number % NODES_A_PLACE;
  const internal = `10.0.${place + 1}.${member + 1}`;
  const endpoint = member === 0 ? `192.0.2.${place + 1}` : internal;
  return nodeOf({
    name: `p${place}-${member}`,
    location: `p${place}`,
    podCIDR: `10.244.${number}.0/24`,
    key: keyOf(number + 1),
    endpoint: `${endpoint}:51820`,
    internalIP: `${internal}/24`,
  });
}
