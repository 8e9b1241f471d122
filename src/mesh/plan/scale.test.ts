/** Large meshes: a plan must not compare each with each. */
import assert from "node:assert/strict";
import test from "node:test";
import { publicKeyFromBytes } from "../../wireguard/index.ts";
import { node, planInput } from "../fixtures.test-kit.ts";
import type { NodeObject } from "../objects.ts";
import type { Granularity } from "../options.ts";
import { planHost } from "./plan.ts";

/** Four times the nodes may take this many times as long: n log n is 4.5, a square is 16. Between them, for a busy machine. */
const LONGEST_RATIO = 9;

function manyNodes(count: number): NodeObject[] {
  return Array.from({ length: count }, (_, i) => {
    const bytes = new Uint8Array(32).fill(1);
    bytes[0] = i & 255;
    bytes[1] = i >> 8;
    return node({
      name: `node-${i}`,
      location: `location-${i % 40}`,
      endpoint: `198.51.${i >> 8}.${i & 255}:51820`,
      internalIP: `10.${128 + (i >> 8)}.${i & 255}.1/24`,
      podCIDR: `10.${i >> 8}.${i & 255}.0/24`,
      key: publicKeyFromBytes(bytes) ?? assert.fail("a key"),
      annotations: { "allowed-location-ips": `172.${16 + (i >> 8)}.${i & 255}.0/24` },
    });
  });
}

/** Milliseconds of one plan. */
function timeOf(nodes: NodeObject[], granularity: Granularity): number {
  const start = performance.now();
  const plan = planHost(planInput("node-7", { nodes, options: { granularity } }));
  assert.equal(plan.counts.nodes, nodes.length);
  return performance.now() - start;
}

/** Small and large take turns, so that a busy moment of the machine harms both, and the fastest of each count. */
const MOST_TURNS = 8;

for (const granularity of ["location", "full", "cross"] as const) {
  test(`${granularity}: the time of a plan grows with the nodes, not with their square`, () => {
    const [few, many] = [manyNodes(1_000), manyNodes(4_000)];
    let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      small = Math.min(small, timeOf(few, granularity));
      large = Math.min(large, timeOf(many, granularity));
      if (turn >= 2 && large / small < LONGEST_RATIO) return;
    }
    assert.fail(`1,000 nodes ${small.toFixed(0)} ms, 4,000 nodes ${large.toFixed(0)} ms`);
  });
}
