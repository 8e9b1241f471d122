/** What an agent writes to its Node, and when it writes nothing. */
import assert from "node:assert/strict";
import test from "node:test";
import { parseInterfaceAddress } from "../../ip/index.ts";
import {
  address,
  endpoint,
  f3,
  f3n,
  K1,
  K3,
  KP,
  learned,
  NOW,
  node,
  p1,
  planInput,
} from "../fixtures.test-kit.ts";
import { type AgentSelf, planAgent } from "../plan/agent.ts";
import { checkInPatch, withAnnotations } from "./own-annotations.ts";

const A1: AgentSelf = {
  publicKey: K1,
  version: "1.0.0",
  discovered: {
    internalIP: parseInterfaceAddress("10.0.1.1/24"),
    privateLink: "eth1",
    external: address("198.51.100.1"),
  },
};

/** A Node as the API server has it before any agent ran there. */
const NEW_A1 = {
  metadata: { name: "a1", annotations: { "kilo.squat.ai/location": "A" } },
  spec: { podCIDR: "10.244.0.0/24" },
};

test("a new node writes all of its annotations in one patch, with the mark of our agent", () => {
  const [, ...others] = f3();
  const { plan, patch } = planAgent(planInput("a1", { nodes: [NEW_A1, ...others] }), A1);
  assert.equal(plan.ready, true);
  assert.deepEqual(patch, {
    "kilo.squat.ai/endpoint": "198.51.100.1:51820",
    "kilo.squat.ai/internal-ip": "10.0.1.1/24",
    "kilo.squat.ai/key": K1,
    "kilo.squat.ai/wireguard-ip": "10.4.0.1/16",
    "kilo.squat.ai/discovered-endpoints": "{}",
    "kilo.squat.ai/granularity": "location",
    "kilo.squat.ai/cni-compatibility-ip": "",
    "kilo.squat.ai/last-seen": String(NOW),
    "kilomesh.io/agent": `1.0.0 ${NOW}`,
  });
});

test("a restart rewrites nothing, also later and after a check-in", () => {
  const [, ...others] = f3();
  const { patch } = planAgent(planInput("a1", { nodes: [NEW_A1, ...others] }), A1);
  assert.ok(patch);
  const written = withAnnotations(NEW_A1, patch);
  const again = { nodes: [written, ...others], now: NOW + 20 };
  assert.equal(planAgent(planInput("a1", again), A1).patch, undefined);
  const checkedIn = withAnnotations(written, checkInPatch({ now: NOW + 30, version: "1.0.0" }));
  assert.equal(planAgent(planInput("a1", { ...again, nodes: [checkedIn, ...others] }), A1).patch, undefined);
});

test("an upgrade and a roll-back are written, with nothing else", () => {
  const [, ...others] = f3();
  const { patch } = planAgent(planInput("a1", { nodes: [NEW_A1, ...others] }), A1);
  const nodes = [withAnnotations(NEW_A1, patch ?? {}), ...others];
  const upgraded = planAgent(planInput("a1", { nodes, now: NOW + 5 }), { ...A1, version: "1.0.1" }).patch;
  assert.deepEqual(upgraded, checkInPatch({ now: NOW + 5, version: "1.0.1" }));
});

test("the first agent of ours in a mesh of Kilo's keeps Kilo's rules; the last one brings ours", () => {
  const kilo = f3().map((object) => withAnnotations(object, { "kilomesh.io/agent": "" }));
  assert.equal(planAgent(planInput("a1", { nodes: kilo }), A1).plan.mode, "kilo");
  const last = f3().map((object) =>
    object.metadata.name === "a1" ? withAnnotations(object, { "kilomesh.io/agent": "" }) : object,
  );
  assert.equal(planAgent(planInput("a1", { nodes: last }), A1).plan.mode, "kilomesh");
});

test("K-03: an endpoint is published only with a living session", () => {
  const published = (secondsAgo: number) => {
    const own = { learned: [learned(K3, "203.0.113.9:40001", secondsAgo)] };
    return planAgent(planInput("a1", { nodes: f3n(), own }), A1).patch?.[
      "kilo.squat.ai/discovered-endpoints"
    ];
  };
  assert.equal(published(5), `{"${K3}":{"IP":"203.0.113.9","Port":40001,"Zone":""}}`);
  assert.equal(published(180), "{}");
  assert.equal(published(NOW), "{}");
});

test("S-10: the endpoint of a Peer without keepalive is nobody's business", () => {
  const published = (persistentKeepalive: number) => {
    const own = { learned: [learned(KP, "198.51.100.77:4000", 5)] };
    const peers = [p1({ persistentKeepalive })];
    return planAgent(planInput("a1", { peers, own }), A1).patch?.["kilo.squat.ai/discovered-endpoints"];
  };
  assert.equal(published(0), "{}");
  assert.equal(published(10), `{"${KP}":{"IP":"198.51.100.77","Port":4000,"Zone":""}}`);
});

test("B16: without its reason an announced endpoint does not last: another port, a removed force-endpoint", () => {
  const stale = f3({ a1: { endpoint: "192.0.2.99:4000" } });
  const { patch } = planAgent(planInput("a1", { nodes: stale, options: { port: 51999 } }), A1);
  assert.equal(patch?.["kilo.squat.ai/endpoint"], "198.51.100.1:51999");
});

test("K-07: a node that says it has no endpoint announces none; in a mixed mesh the discovered one", () => {
  const forced = f3({ a1: { annotations: { "force-endpoint": "-" } } });
  assert.equal(planAgent(planInput("a1", { nodes: forced }), A1).patch?.["kilo.squat.ai/endpoint"], "");
  const mixed = [...forced, node({ name: "k", key: KP, kilo: true })];
  const { plan, patch } = planAgent(planInput("a1", { nodes: mixed }), A1);
  assert.deepEqual(plan.topology.segments[0]?.endpoint, endpoint("198.51.100.1:51820"));
  assert.equal(patch?.["kilo.squat.ai/endpoint"], undefined);
});

test("the API server away for an hour: nobody becomes stale, and nothing is written but the own check-in", () => {
  const nodes = f3({ a2: { lastSeen: NOW - 20 }, b1: { lastSeen: NOW - 10 } });
  const { plan } = planAgent(planInput("a1", { nodes, now: NOW + 3600, heardAt: NOW }), A1);
  assert.deepEqual(plan.counts, { nodes: 3, peers: 0 });
});

test("check-ins refused for an hour: the own host stays part of its own plan", () => {
  const nodes = f3({ a1: { lastSeen: NOW - 3600 } });
  const { plan } = planAgent(planInput("a1", { nodes }), A1);
  assert.equal(plan.ready, true);
  assert.deepEqual(plan.counts, { nodes: 3, peers: 0 });
});

test("a host whose links are all down keeps what it announced", () => {
  const { plan, patch } = planAgent(planInput("a1"), { ...A1, discovered: {} });
  assert.equal(plan.ready, true);
  assert.equal(patch?.["kilo.squat.ai/endpoint"], undefined);
  assert.equal(patch?.["kilo.squat.ai/internal-ip"], undefined);
});

test("force-endpoint and force-internal-ip go before what was discovered, a mask may be missing (K-30)", () => {
  const forced = { "force-endpoint": "vpn.example:4000", "force-internal-ip": "10.0.1.7" };
  const { patch } = planAgent(planInput("a1", { nodes: f3({ a1: { annotations: forced } }) }), A1);
  assert.equal(patch?.["kilo.squat.ai/endpoint"], "vpn.example:4000");
  assert.equal(patch?.["kilo.squat.ai/internal-ip"], "10.0.1.7/32");
});

test("a force-annotation that cannot be read changes nothing", () => {
  const forced = { "force-endpoint": "127.0.0.1:4000", "force-internal-ip": "foo" };
  const { patch } = planAgent(planInput("a1", { nodes: f3({ a1: { annotations: forced } }) }), A1);
  assert.equal(patch?.["kilo.squat.ai/endpoint"], undefined);
  assert.equal(patch?.["kilo.squat.ai/internal-ip"], undefined);
});
