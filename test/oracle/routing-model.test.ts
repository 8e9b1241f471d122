/** Step 1 against an independent model: random clusters, every granularity and strategy, the same routes and rules. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { key, node, peer } from "../../src/mesh/fixtures.test-kit.ts";
import type { Encapsulation, Granularity } from "../../src/mesh/options.ts";
import { wantedRouting } from "../../src/mesh/topology/routes.ts";
import { routeTexts, ruleTexts, topologyOf } from "../../src/mesh/topology/topology.test-kit.ts";

const MODEL = "test/oracle/kilo-routing-model.py";
/** Enough that every combination of granularity, strategy and locality comes up dozens of times. */
const CASES = 1_000;
const SEED = 20_240_611;

interface ModelNode {
  readonly name: string;
  readonly ep: string;
  readonly int: string | null;
  readonly loc: string;
  readonly pod: string;
  readonly leader?: true;
  readonly alips?: readonly string[];
}

interface ModelCase {
  readonly nodes: Readonly<Record<string, ModelNode>>;
  readonly peers: Readonly<Record<string, { readonly name: string; readonly aips: readonly string[] }>>;
  readonly granularity: Granularity;
  readonly host: string;
  readonly local: boolean;
  readonly strategy: Encapsulation;
}

interface ModelAnswer {
  readonly routes: readonly string[];
  readonly rules: readonly {
    readonly src: string | null;
    readonly dst: string;
    readonly iif: string;
    readonly table: number;
  }[];
}

test(`${CASES} random clusters (seed ${SEED}) get the routes and rules of the other model`, () => {
  const random = randomNumbers(SEED);
  const cases = Array.from({ length: CASES }, () => randomCase(random));
  const answers = askModel(cases);
  assert.equal(answers.length, CASES);
  const seen = new Set<string>();
  for (const [i, modelCase] of cases.entries()) {
    const answer = answers[i];
    assert.ok(answer);
    const ours = route(modelCase);
    const message = JSON.stringify(modelCase);
    assert.deepEqual(ours.routes, [...answer.routes].sort(), message);
    assert.deepEqual(ours.rules, answer.rules.map(ruleOfModel).sort(), message);
    seen.add(`${modelCase.granularity} ${modelCase.strategy} ${modelCase.local}`);
  }
  assert.equal(seen.size, 18, "every granularity, strategy and locality came up");
});

function askModel(cases: readonly ModelCase[]): ModelAnswer[] {
  const input = cases.map((modelCase) => JSON.stringify(modelCase)).join("\n");
  const run = spawnSync("python3", [MODEL, "-"], { input, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as ModelAnswer);
}

function route({ nodes, peers, granularity, host, local, strategy }: ModelCase) {
  const topology = topologyOf({
    hostname: host,
    mode: "kilo",
    options: { granularity },
    nodes: Object.values(nodes).map((sketch, i) =>
      node({
        name: sketch.name,
        endpoint: `${sketch.ep}:51820`,
        ...(sketch.int === null ? {} : { internalIP: `${sketch.int}/32` }),
        location: sketch.loc,
        podCIDR: sketch.pod,
        key: key(i + 1),
        kilo: true,
        annotations: {
          ...(sketch.leader ? { leader: "" } : {}),
          ...(sketch.alips ? { "allowed-location-ips": sketch.alips.join(",") } : {}),
        },
      }),
    ),
    peers: Object.values(peers).map(({ name, aips }, i) =>
      peer(name, { publicKey: key(i + 100), allowedIPs: aips }),
    ),
  });
  const wanted = wantedRouting(topology, { local, encapsulate: strategy, compatibility: "none" });
  return { routes: routeTexts(wanted), rules: ruleTexts(wanted) };
}

function ruleOfModel({ src, dst, iif, table }: ModelAnswer["rules"][number]): string {
  const from = src === null ? "" : `from ${src} `;
  const input = iif === "" ? "" : ` iif ${iif}`;
  return `${from}to ${dst}${input} table ${table}`;
}

type Random = (below: number) => number;

/**
 * A small cluster: few locations, so that segments have several members; some nodes without internal IP; some internal IPs twice; endpoints
 * that are private, public or the internal IP itself. Allowed-location-ips and Peers do not overlap: the model has no filter (kilo.md §5.5).
 */
function randomCase(random: Random): ModelCase {
  const names = Array.from({ length: 1 + random(7) }, (_, i) => `n${(i * 7) % 10}`);
  const granularity = pick(random, ["location", "full", "cross"] as const);
  const nodes = Object.fromEntries(names.map((name, i) => [name, randomNode(random, name, i)]));
  const peers = Object.fromEntries(
    Array.from({ length: random(4) }, (_, i) => [
      `p${i}`,
      { name: `p${i}`, aips: [`10.5.${i}.1/24`, `10.6.0.${i}/32`] },
    ]),
  );
  return {
    nodes,
    peers,
    granularity,
    host: pick(random, names),
    local: random(2) === 0,
    strategy: pick(random, ["never", "crosssubnet", "always"] as const),
  };
}

function randomNode(random: Random, name: string, i: number): ModelNode {
  const internal = random(5) === 0 ? null : `192.168.0.${1 + random(12)}`;
  const endpoint = pick(random, [
    `10.1.0.${i + 1}`,
    `8.8.8.${i + 1}`,
    internal ?? "172.32.0.1",
    "172.16.3.4",
  ]);
  return {
    name,
    ep: endpoint,
    int: internal,
    loc: pick(random, ["", "1", "2"]),
    pod: `10.2.${i}.0/24`,
    ...(random(4) === 0 ? { leader: true as const } : {}),
    ...(random(3) === 0 ? { alips: [`192.168.178.${i}/32`, `172.20.${i}.0/24`] } : {}),
  };
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[random(values.length)];
  if (value === undefined) throw new RangeError("cannot pick: no values (0)");
  return value;
}

/** mulberry32: small, seeded, good enough to shuffle test cases. */
function randomNumbers(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
