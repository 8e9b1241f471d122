/** Field reports about endpoints, NAT and leaders, each named after its symptom. */
import assert from "node:assert/strict";
import test from "node:test";
import { address, f3, f3n, K1, K2, K3, KP, key, learned, node, p1, planInput } from "./fixtures.test-kit.ts";
import { planPeer } from "./plan/laptop.ts";
import { allowedIPs, endpointOf, plan, problems, routes } from "./reports.test-kit.ts";

const published = (publicKey: string, ip: string, port: number) => {
  return {
    annotations: {
      "discovered-endpoints": JSON.stringify({ [publicKey]: { IP: ip, Port: port, Zone: "" } }),
    },
  };
};

test("K-01: the endpoint of a node behind NAT is what the device heard, not what is announced", () => {
  const own = { learned: [learned(K3, "203.0.113.9:40001", 5)] };
  assert.equal(endpointOf(plan("a1", { nodes: f3n(), own }), K3), "203.0.113.9:40001");
});

test("K-02: two nodes behind NAT get each other's endpoint from the public one that heard them", () => {
  const c = {
    name: "c1",
    location: "C",
    endpoint: "192.168.1.7:51820",
    keepalive: 10,
    podCIDR: "10.244.3.0/24",
    key: key(7),
  };
  const d = { ...c, name: "d1", location: "D", podCIDR: "10.244.4.0/24", key: key(8) };
  const heard = { [c.key]: { IP: "198.18.0.3", Port: 4003 }, [d.key]: { IP: "198.18.0.4", Port: 4004 } };
  const nodes = [
    ...f3({ a1: { annotations: { "discovered-endpoints": JSON.stringify(heard) } } }),
    node(c),
    node(d),
  ];
  assert.equal(endpointOf(plan("c1", { nodes }), d.key), "198.18.0.4:4004");
  assert.equal(endpointOf(plan("d1", { nodes }), c.key), "198.18.0.3:4003");
});

test("K-08: a device that was made again calls a Peer without endpoint where it was heard last", () => {
  const own = { learned: [learned(KP, "198.18.0.7:4007", 4000)] };
  for (const persistentKeepalive of [0, 10]) {
    const planned = plan("a1", { peers: [p1({ persistentKeepalive })], own });
    assert.equal(endpointOf(planned, KP), "198.18.0.7:4007", `keepalive ${persistentKeepalive}`);
  }
});

test("K-05: an internal IP that is also the announced, not the real endpoint is routed; the real one never", () => {
  const nodes = f3n({ b1: { internalIP: "192.168.1.5/24" } });
  const own = { learned: [learned(K3, "198.18.0.9:4009", 5)] };
  const onA1 = plan("a1", { nodes, own });
  assert.ok(routes(onA1).includes("192.168.1.5/32 via 10.4.0.2 mesh src 10.0.1.1"));
  assert.ok(routes(onA1).every((route) => !route.startsWith("198.18.0.9")));
});

test("K-05: an internal IP that is the endpoint is not routed into its own tunnel, on followers neither (B54)", () => {
  const nodes = f3({ b1: { internalIP: "203.0.113.1/32" } });
  for (const host of ["a1", "a2"]) {
    const planned = plan(host, { nodes });
    assert.ok(
      routes(planned).every((route) => !route.startsWith("203.0.113.1/32")),
      host,
    );
    assert.deepEqual(planned.problems, [], "nothing is wrong with that");
  }
  assert.ok(allowedIPs(plan("a1", { nodes }))[K3]?.includes("203.0.113.1/32"), "allowed IPs are contract");
});

test("K-06: a laptop is told the discovered endpoint, not the announced one", () => {
  const nodes = f3n({ a1: published(K3, "198.18.0.9", 4009) });
  const laptop = planPeer(planInput("a1", { nodes, peers: [p1()] }), "lap");
  const b1 = laptop?.peers.find(({ publicKey }) => publicKey === K3);
  assert.equal(b1?.endpoint?.address.text, "198.18.0.9");
  assert.equal(b1.endpoint.port, 4009);
});

test("K-07: a node that says it has no endpoint is ready, is waited for, and leads only where nobody has one", () => {
  const nodes = f3({ b1: { keepalive: 10, annotations: { "force-endpoint": "-" } } });
  const onA1 = plan("a1", { nodes });
  assert.deepEqual(onA1.counts, { nodes: 3, peers: 0 });
  assert.equal(endpointOf(onA1, K3), undefined);
  const a1 = f3({ a1: { annotations: { "force-endpoint": "", leader: "true" } } });
  assert.equal(plan("a2", { nodes: a1 }).leader, true);
});

test("K-07 in a mixed mesh: Kilo's agents read the announced endpoint, so ours do too", () => {
  const nodes = f3({ b1: { annotations: { "force-endpoint": "-" } }, a2: { kilo: true } });
  const mixed = plan("a1", { nodes });
  assert.equal(mixed.mode, "kilo");
  assert.equal(endpointOf(mixed, K3), "203.0.113.1:51820");
  assert.deepEqual(problems(mixed), ["Node b1: annotation-invalid"]);
});

test("K-11: one and the same endpoint on two nodes is told of both", () => {
  const nodes = f3({ b1: { annotations: { "force-endpoint": "198.51.100.1:51820" } } });
  assert.deepEqual(problems(plan("a2", { nodes })), ["Node a1: endpoint-shared", "Node b1: endpoint-shared"]);
});

test("K-13: an endpoint follows its name, and a name without answer harms nobody else (B8)", () => {
  const peers = [p1({ endpoint: { dnsOrIP: { dns: "home.example" }, port: 51820 } })];
  const at = (answer?: string) =>
    plan("a1", { peers, resolve: () => (answer === undefined ? undefined : [address(answer)]) });
  assert.equal(endpointOf(at("198.18.1.1"), KP), "198.18.1.1:51820");
  assert.equal(endpointOf(at("198.18.1.2"), KP), "198.18.1.2:51820");
  const waiting = at();
  assert.equal(endpointOf(waiting, KP), undefined);
  assert.equal(endpointOf(waiting, K3), "203.0.113.1:51820");
  assert.deepEqual(waiting.unresolved, [{ name: "home.example", owner: { kind: "Peer", name: "lap" } }]);
  assert.deepEqual(problems(waiting), ["Peer lap: name-unresolved"]);
});

test("K-13: in a mixed mesh a leader may hang on a name, and the plan says so", () => {
  const nodes = f3({ a2: { annotations: { "force-endpoint": "pub.example:51820" }, kilo: true } });
  assert.equal(plan("b1", { nodes }).unresolved[0]?.decidesLeaderOf, "location:A");
});

test("K-17: a changed persistent-keepalive counts at once, on both sides where it is needed (R-53)", () => {
  const keepalives = (host: string, keepalive: number) => {
    return plan(host, { nodes: f3({ b1: { keepalive } }) }).state.mesh?.device.peers.map(
      (peer) => peer.persistentKeepalive,
    );
  };
  assert.deepEqual([keepalives("b1", 0), keepalives("b1", 25)], [[0], [25]]);
  assert.deepEqual(keepalives("a1", 25), [0]);
});

test("K-18: a Peer's keepalive is written to its entry, and to no other", () => {
  const { state } = plan("a1", { peers: [p1({ persistentKeepalive: 25 })] });
  assert.deepEqual(
    state.mesh?.device.peers.map((peer) => [peer.publicKey, peer.persistentKeepalive]),
    [
      [K3, 0],
      [KP, 25],
    ],
  );
});

test("K-24: a loopback endpoint or internal IP is never sent to, in a mixed mesh neither", () => {
  for (const kilo of [false, true]) {
    const nodes = f3({ b1: { internalIP: "127.0.0.1/32", kilo } });
    const onA1 = plan("a1", { nodes });
    assert.ok(routes(onA1).every((route) => !route.startsWith("127.")));
    assert.ok(!allowedIPs(onA1)[K3]?.includes("127.0.0.1/32"));
    assert.ok(problems(onA1).includes("Node b1: address-ignored"));
    assert.equal(onA1.topology.segments[1]?.name, kilo ? "location:B" : "node:b1");
  }
  const local = plan("a1", { nodes: f3({ b1: { endpoint: "127.0.0.1:51820", kilo: true } }) });
  assert.equal(endpointOf(local, K3), undefined);
});

test("K-29: a node without internal IP is a segment of its own", () => {
  const nodes = f3({ a2: { annotations: { "force-internal-ip": "-" } } });
  const onA2 = plan("a2", { nodes });
  assert.deepEqual(
    onA2.topology.segments.map(({ name }) => name),
    ["location:A", "location:B", "node:a2"],
  );
  assert.equal(onA2.published.wireguardIP?.text, "10.4.0.3/16");
  for (const host of ["a1", "a2", "b1"]) {
    assert.ok(!JSON.stringify(allowedIPs(plan(host, { nodes }))).includes("10.0.1.2"), host);
  }
  assert.ok(allowedIPs(plan("a1", { nodes }))[K2]);
});

test("K-33: packets of the host itself carry its internal IP through the mesh; none where there is none", () => {
  assert.ok(routes(plan("a1")).includes("10.244.2.0/24 via 10.4.0.2 mesh src 10.0.1.1"));
  const nodes = f3({ a1: { annotations: { "force-internal-ip": "" } } });
  assert.ok(routes(plan("a1", { nodes })).every((route) => !route.includes("src")));
});

test("B11: an internal IP that stands on no link is no source, and is named", () => {
  const own = { addresses: [address("10.0.1.99")] };
  const onA1 = plan("a1", { own });
  assert.ok(routes(onA1).every((route) => !route.includes("src")));
  assert.deepEqual(problems(onA1), ["Node a1: internal-ip-unassigned"]);
});

test("R-15: a forced port moves the node's own listen port", () => {
  const nodes = f3({ b1: { annotations: { "force-endpoint": "203.0.113.1:51999" } } });
  assert.equal(plan("b1", { nodes }).state.mesh?.device.listenPort, 51999);
  assert.equal(endpointOf(plan("a1", { nodes }), K3), "203.0.113.1:51999");
});

test("S-04: leader false is no candidate", () => {
  const nodes = f3({ a2: { annotations: { leader: "false" } } });
  assert.equal(plan("a1", { nodes }).leader, true);
  const mixed = f3({ a2: { annotations: { leader: "false" }, kilo: true } });
  assert.equal(plan("a2", { nodes: mixed }).leader, true);
  assert.deepEqual(problems(plan("a2", { nodes: mixed })), ["Node a2: leader-false-counts"]);
});

test("S-06: a Peer with a name and an address is contacted at the address", () => {
  const peers = [p1({ endpoint: { dnsOrIP: { dns: "home.example", ip: "192.0.2.4" }, port: 7 } })];
  assert.equal(endpointOf(plan("a1", { peers, resolve: () => [address("192.0.2.99")] }), KP), "192.0.2.4:7");
});

test("K-69, K-97: who is left out is told which field it hangs on", () => {
  const nodes = [
    ...f3({ b1: { podCIDR: undefined } }),
    node({
      name: "old",
      key: key(7),
      endpoint: "192.0.2.1:1",
      podCIDR: "10.244.7.0/24",
      lastSeen: 1_699_999_900,
    }),
    node({
      name: "ahead",
      key: key(8),
      endpoint: "192.0.2.2:1",
      podCIDR: "10.244.8.0/24",
      lastSeen: 1_700_000_600,
    }),
    node({ name: "mute", podCIDR: "10.244.9.0/24" }),
  ];
  assert.deepEqual(problems(plan("a1", { nodes })), [
    "Node ahead: clock-ahead",
    "Node b1: node-without-pod-cidr",
    "Node mute: node-without-key",
    "Node old: node-stale",
  ]);
});

test("cross: a node that still announces location is left out and named", () => {
  const nodes = f3({ b1: { annotations: { granularity: "location" } } });
  const onA1 = plan("a1", { nodes, options: { granularity: "cross" } });
  assert.deepEqual(
    onA1.topology.segments.map(({ name }) => name),
    ["node:a1", "node:a2"],
  );
  assert.deepEqual(problems(onA1), ["Node b1: granularity-left-out"]);
});

test("cross: traffic inside a location stays plain, tunnel addresses too", () => {
  const onA1 = plan("a1", { options: { granularity: "cross" } });
  assert.deepEqual(Object.keys(allowedIPs(onA1)), [K3]);
  assert.ok(routes(onA1).includes("10.244.1.0/24 via 10.0.1.2 private"));
  assert.ok(routes(onA1).includes("10.4.0.2/32 via 10.0.1.2 private"));
  assert.ok(!allowedIPs(onA1)[K1]);
});
