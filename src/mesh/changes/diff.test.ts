/** Differences of hosts: the fewest, complete, and empty when there is nothing to do. */
import assert from "node:assert/strict";
import test from "node:test";
import { f3, f3n, K3, key, learned, NOW, node, p1, planInput, prefix } from "../fixtures.test-kit.ts";
import type { HostState } from "../host-state.ts";
import { planHost } from "../plan/plan.ts";
import { applyChanges } from "./apply.ts";
import { diffHost, isEmptyChange } from "./diff.ts";

const NOTHING: HostState = { routes: [], rules: [] };
const CONTEXT = { now: NOW };

function stateOf(...[hostname, sketch]: Parameters<typeof planInput>): HostState {
  return planHost(planInput(hostname, sketch)).state;
}

test("a host without anything gets everything, and then there is nothing to do", () => {
  const wanted = stateOf("a1", { peers: [p1()], options: { encapsulate: "always" } });
  const changes = diffHost(wanted, NOTHING, CONTEXT);
  assert.equal(changes.mesh?.create, true);
  assert.equal(changes.tunnel?.create, true);
  assert.equal(changes.device?.peers.length, 2);
  assert.equal(changes.setRoutes.length, wanted.routes.length);
  assert.equal(changes.firewall?.kind, "replace");
  assert.deepEqual(changes.cni, wanted.cni);
  const actual = applyChanges(NOTHING, changes);
  assert.equal(isEmptyChange(diffHost(wanted, actual, CONTEXT)), true);
});

test("a new node is one peer added, a few routes set and set elements: nothing else is named", () => {
  const before = stateOf("a1");
  const c1 = node({
    name: "c1",
    location: "C",
    endpoint: "192.0.2.1:51820",
    internalIP: "10.0.3.1/24",
    podCIDR: "10.244.3.0/24",
    key: key(7),
  });
  const changes = diffHost(stateOf("a1", { nodes: [...f3(), c1] }), before, CONTEXT);
  assert.equal(changes.mesh, undefined);
  assert.deepEqual(
    changes.device?.peers.map(({ kind, publicKey }) => [kind, publicKey]),
    [["add", key(7)]],
  );
  assert.deepEqual(
    changes.setRoutes.map(({ destination }) => destination.text),
    ["10.244.3.0/24", "10.0.3.1/32", "10.244.3.0/24"],
  );
  assert.deepEqual(changes.removeRoutes, []);
  assert.equal(changes.firewall?.kind, "elements");
  assert.equal(changes.cni, undefined);
});

test("K-01: an endpoint that WireGuard learned is left alone", () => {
  const own = { learned: [learned(K3, "203.0.113.9:40001", 5)] };
  const wanted = stateOf("a1", { nodes: f3n(), own });
  const read = applyChanges(NOTHING, diffHost(wanted, NOTHING, CONTEXT));
  assert.equal(isEmptyChange(diffHost(stateOf("a1", { nodes: f3n(), own }), read, CONTEXT)), true);
});

test("a route that leads elsewhere is replaced, not removed", () => {
  const wanted = stateOf("a1");
  const [first, ...others] = wanted.routes;
  assert.ok(first);
  const actual = { ...wanted, routes: [{ ...first, gateway: undefined }, ...others] };
  const changes = diffHost(wanted, actual, CONTEXT);
  assert.deepEqual(changes.setRoutes, [first]);
  assert.deepEqual(changes.removeRoutes, []);
});

test("the same prefix in another table or with another metric is another route (B56)", () => {
  const wanted = stateOf("a1");
  const [first] = wanted.routes;
  assert.ok(first);
  const stale = { ...first, table: 1107 };
  const changes = diffHost(wanted, { ...wanted, routes: [...wanted.routes, stale] }, CONTEXT);
  assert.deepEqual(changes.removeRoutes, [stale]);
});

test("a leader that becomes a follower: link down, address and peers gone, the guard moves", () => {
  const leader = applyChanges(NOTHING, diffHost(stateOf("a1"), NOTHING, CONTEXT));
  const follower = stateOf("a1", { nodes: f3({ a2: { annotations: { leader: "" } } }) });
  const changes = diffHost(follower, leader, CONTEXT);
  assert.deepEqual([changes.mesh?.create, changes.mesh?.up], [false, false]);
  assert.deepEqual(
    changes.mesh?.removeAddresses.map(({ text }) => text),
    ["10.4.0.1/16"],
  );
  assert.deepEqual(changes.device?.peers, [{ kind: "remove", publicKey: K3 }]);
  assert.equal(changes.firewall?.kind, "replace");
});

test("renumbered: the new address comes, the old one goes, and no peer is taken away", () => {
  const before = stateOf("b1");
  const early = node({
    name: "0",
    location: "0",
    endpoint: "192.0.2.1:51820",
    internalIP: "10.0.9.1/24",
    podCIDR: "10.244.9.0/24",
    key: key(9),
  });
  const changes = diffHost(stateOf("b1", { nodes: [...f3(), early] }), before, CONTEXT);
  assert.deepEqual(
    changes.mesh?.addAddresses.map(({ text }) => text),
    ["10.4.0.3/16"],
  );
  assert.deepEqual(
    changes.mesh?.removeAddresses.map(({ text }) => text),
    ["10.4.0.2/16"],
  );
  assert.ok(changes.device?.peers.every(({ kind }) => kind !== "remove"));
});

test("a table that somebody changed is written anew", () => {
  const wanted = stateOf("a1");
  assert.equal(diffHost(wanted, { ...wanted, firewall: undefined }, CONTEXT).firewall?.kind, "replace");
});

test("set elements: what is missing and what is too much, set by set", () => {
  const wanted = stateOf("a1");
  assert.ok(wanted.firewall);
  const { sets } = wanted.firewall;
  const actual = {
    ...wanted,
    firewall: { ...wanted.firewall, sets: { ...sets, keep_source: [prefix("192.0.2.0/24")] } },
  };
  const { firewall } = diffHost(wanted, actual, CONTEXT);
  assert.deepEqual(firewall, {
    kind: "elements",
    sets: [{ set: "keep_source", add: sets.keep_source, remove: [prefix("192.0.2.0/24")] }],
  });
});

test("a host that takes no part keeps its link as it is", () => {
  const before = stateOf("a1");
  const changes = diffHost(stateOf("a1", { nodes: [] }), before, CONTEXT);
  assert.deepEqual([changes.mesh, changes.device], [undefined, undefined]);
});

test("K-52: going over from full to cross at run time leaves no stale route, and one tunnel less", () => {
  const full = applyChanges(
    NOTHING,
    diffHost(stateOf("a1", { options: { granularity: "full" } }), NOTHING, CONTEXT),
  );
  const cross = stateOf("a1", { options: { granularity: "cross" } });
  const changes = diffHost(cross, full, CONTEXT);
  assert.deepEqual(changes.device?.peers, [{ kind: "remove", publicKey: key(2) }]);
  const after = applyChanges(full, changes);
  const texts = (state: HostState) =>
    state.routes.map(({ destination, link }) => `${destination.text} ${link}`).sort();
  assert.deepEqual(texts(after), texts(cross));
});
