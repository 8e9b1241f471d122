/** Fail closed (design, "Rules"): what pods send to other locations never leaves in clear, whatever is down. */
import assert from "node:assert/strict";
import test from "node:test";
import { f3, f3n, K3, learned, NOW, p1, peer } from "./fixtures.test-kit.ts";
import { plan, set, unreachable } from "./reports.test-kit.ts";

test("fail closed: subnet, Peers and all pod CIDRs are unreachable behind their routes, ready or not", () => {
  const nodes = f3({ b1: { lastSeen: NOW - 3600 } });
  const peers = [p1(), peer("bad", { allowedIPs: ["10.6.0.0/24"] })];
  assert.deepEqual(unreachable(plan("a1", { nodes, peers })), [
    "10.4.0.0/16",
    "10.5.0.1/32",
    "10.6.0.0/24",
    "10.244.1.0/24",
    "10.244.2.0/24",
  ]);
});

test("fail closed: without local, the CNI carries the own location's pods", () => {
  assert.deepEqual(unreachable(plan("a1", { options: { local: false } })), ["10.4.0.0/16", "10.244.2.0/24"]);
});

test("fail closed: a Peer's prefix around the nodes themselves is never unreachable", () => {
  const peers = [p1({ allowedIPs: ["10.0.0.0/8", "203.0.113.0/24"] })];
  assert.deepEqual(unreachable(plan("a1", { peers })), ["10.4.0.0/16", "10.244.1.0/24", "10.244.2.0/24"]);
});

test("fail closed: a bad annotation on one node opens neither the subnet nor pod CIDRs on any host", () => {
  const closed = ["10.4.0.0/16", "10.244.1.0/24", "10.244.2.0/24"];
  for (const bad of ["10.4.0.99", "10.244.1.7", "10.244.2.1"]) {
    const asEndpoint = f3({ b1: { annotations: { "force-endpoint": `${bad}:51820` } } });
    const asInternalIP = f3({ b1: { annotations: { "force-internal-ip": `${bad}/24` } } });
    assert.deepEqual(unreachable(plan("a1", { nodes: asEndpoint })), closed, `endpoint ${bad}`);
    assert.deepEqual(unreachable(plan("a1", { nodes: asInternalIP })), closed, `internal IP ${bad}`);
  }
});

test("fail closed: a Peer with the prefix of a pod CIDR does not open it either", () => {
  const nodes = f3({ b1: { annotations: { "force-internal-ip": "10.244.2.1/24" } } });
  const peers = [p1({ allowedIPs: ["10.244.2.0/24"] })];
  assert.ok(unreachable(plan("a1", { nodes, peers })).includes("10.244.2.0/24"));
});

test("fail closed: a stale node's internal IP is guarded, one at which a node is contacted is not", () => {
  assert.deepEqual(set(plan("a1", { nodes: f3({ b1: { lastSeen: NOW - 3600 } }) }), "remote_internal"), [
    "10.0.2.1/32",
  ]);
  const direct = f3({ b1: { internalIP: "203.0.113.1/32" } });
  assert.deepEqual(set(plan("a1", { nodes: direct }), "remote_internal"), []);
  assert.ok(!set(plan("a1", { nodes: direct }), "keep_source").includes("203.0.113.1/32"));
});

test("fail closed: the internal IP of a stale node behind NAT is guarded although it announces it as its endpoint", () => {
  const nodes = f3n({ b1: { internalIP: "192.168.1.5/24", lastSeen: NOW - 3600 } });
  assert.deepEqual(set(plan("a1", { nodes }), "remote_internal"), ["192.168.1.5/32"]);
});

test("fail closed: so is that of a node behind NAT that nobody has heard of yet", () => {
  const nodes = f3n({ b1: { internalIP: "192.168.1.5/24" } });
  assert.deepEqual(set(plan("a1", { nodes }), "remote_internal"), ["192.168.1.5/32"]);
  const heard = { learned: [learned(K3, "198.51.100.7:51820", 5)] };
  assert.deepEqual(set(plan("a1", { nodes, own: heard }), "remote_internal"), ["192.168.1.5/32"]);
});

test("fail closed: an internal IP at which a node was heard is not guarded either", () => {
  const nodes = f3n({ b1: { endpoint: "192.0.2.5:1", internalIP: "192.168.1.5/24" } });
  const own = { learned: [learned(K3, "192.168.1.5:7", 5)] };
  assert.deepEqual(set(plan("a1", { nodes, own }), "remote_internal"), []);
  assert.deepEqual(set(plan("a1", { nodes }), "remote_internal"), ["192.168.1.5/32"]);
});

test("fail closed: a follower's guard is the link to its leader", () => {
  assert.equal(plan("a2").state.firewall?.remoteInternalLink, "private");
  assert.equal(
    plan("a2", { options: { encapsulate: "always" } }).state.firewall?.remoteInternalLink,
    "tunnel",
  );
  assert.deepEqual(set(plan("a2"), "remote_internal"), ["10.0.2.1/32"]);
});
