import assert from "node:assert/strict";
import { test } from "node:test";
import { f3, planInput } from "../fixtures.test-kit.ts";
import { planHost } from "../plan/plan.ts";
import { applyChanges } from "./apply.ts";
import { diffHost, isEmptyChange } from "./diff.ts";
import { withoutRemovals } from "./standing.ts";

test("a node that loses its pod CIDR keeps the routes and sets that stand", () => {
  const nodes = f3();
  const before = planHost(planInput("a1", { nodes }));
  const lost = planHost(planInput("a1", { nodes: nodes.map(withoutPodCidr("a1")) }));
  assert.equal(lost.ready, false);
  const changes = withoutRemovals(diffHost(lost.state, before.state, { now: 0 }), before.state);
  const after = applyChanges(before.state, changes);
  for (const route of before.state.routes) assert.ok(after.routes.includes(route), route.destination.text);
  assert.deepEqual(after.firewall, before.state.firewall);
  assert.ok(
    isEmptyChange(withoutRemovals(diffHost(lost.state, after, { now: 0 }), after)),
    "and then it is still",
  );
});

function withoutPodCidr(name: string) {
  return (node: ReturnType<typeof f3>[number]) =>
    node.metadata.name === name ? { ...node, spec: undefined } : node;
}
