/** Field reports about prefixes, owners and the firewall, each named after its symptom. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  f3,
  f3n,
  K1,
  K2,
  K3,
  KP,
  key,
  kiloFixture,
  NOW,
  node,
  p1,
  peer,
  planInput,
  prefix,
} from "./fixtures.test-kit.ts";
import { planPeer } from "./plan/laptop.ts";
import { allowedIPs, plan, problems, routes, set, unreachable } from "./reports.test-kit.ts";

const C1 = {
  name: "c1",
  location: "C",
  endpoint: "192.0.2.1:51820",
  internalIP: "10.0.3.1/24",
  podCIDR: "10.244.3.0/24",
  key: key(7),
};

function laptop(sketch: Parameters<typeof planInput>[1]) {
  const planned = planPeer(planInput("a1", sketch), "lap");
  assert.ok(planned);
  return Object.fromEntries(
    planned.peers.map((entry) => [entry.publicKey, entry.allowedIPs.map(({ text }) => text)]),
  );
}

test("K-15: one internal IP on three nodes goes to the first by name, on every host; the others are named", () => {
  const nodes = [...f3({ b1: { internalIP: "10.0.1.1/24" } }), node({ ...C1, internalIP: "10.0.1.1/24" })];
  const onA1 = plan("a1", { nodes });
  assert.deepEqual(allowedIPs(onA1)[K3], ["10.4.0.2/32", "10.244.2.0/24"]);
  assert.deepEqual(allowedIPs(onA1)[C1.key], ["10.4.0.3/32", "10.244.3.0/24"]);
  assert.ok(routes(onA1).every((route) => !route.startsWith("10.0.1.1/32")));
  const onB1 = plan("b1", { nodes });
  assert.ok(allowedIPs(onB1)[K1]?.includes("10.0.1.1/32"));
  assert.ok(!allowedIPs(onB1)[C1.key]?.includes("10.0.1.1/32"));
  assert.ok(
    routes(onB1).every((route) => !route.startsWith("10.0.1.1/32")),
    "no route leads to the host's own address",
  );
  for (const planned of [onA1, onB1]) {
    assert.deepEqual(problems(planned), ["Node b1: duplicate-prefix", "Node c1: duplicate-prefix"]);
  }
});

test("R-20: one pod CIDR on two nodes goes to the first by name, whatever the order of the objects", () => {
  const nodes = [...f3(), node({ ...C1, podCIDR: "10.244.2.0/24" })];
  for (const order of [nodes, [...nodes].reverse()]) {
    const onA1 = plan("a1", { nodes: order });
    assert.ok(allowedIPs(onA1)[K3]?.includes("10.244.2.0/24"));
    assert.deepEqual(problems(onA1), ["Node c1: duplicate-prefix"]);
  }
});

test("R-04: a node object that lies dead takes nothing from the one that replaced it", () => {
  const nodes = [
    ...f3({ b1: { lastSeen: NOW - 86_400 } }),
    node({ ...C1, name: "b1x", location: "B", internalIP: "10.0.2.1/24", podCIDR: "10.244.2.0/24" }),
  ];
  assert.deepEqual(allowedIPs(plan("a1", { nodes })), {
    [C1.key]: ["10.0.2.1/32", "10.4.0.2/32", "10.244.2.0/24"],
  });
});

test("R-05, B33: a copied public key stays with its first owner: node before Peer, then by name", () => {
  const nodes = [...f3(), node({ ...C1, key: K3 })];
  const peers = [
    peer("p1", { publicKey: K3, allowedIPs: ["10.5.0.1/32"] }),
    peer("p2", { publicKey: KP, allowedIPs: ["10.5.0.2/32"] }),
    peer("p3", { publicKey: KP, allowedIPs: ["10.5.0.3/32"] }),
  ];
  const onA1 = plan("a1", { nodes, peers });
  assert.deepEqual(allowedIPs(onA1), {
    [K3]: ["10.0.2.1/32", "10.4.0.2/32", "10.244.2.0/24"],
    [KP]: ["10.5.0.2/32"],
  });
  assert.deepEqual(problems(onA1), [
    "Node c1: duplicate-key",
    "Peer p1: duplicate-key",
    "Peer p3: duplicate-key",
  ]);
  assert.ok(routes(onA1).every((route) => !/^10\.(5\.0\.[13]|244\.3)/.test(route)));
  assert.ok(unreachable(onA1).includes("10.5.0.1/32"));
});

test("R-05: a node that leads nothing and has a leader's key cuts off no location", () => {
  const nodes = f3({ a2: { key: K3 } });
  const onA1 = plan("a1", { nodes });
  assert.deepEqual(allowedIPs(onA1), { [K3]: ["10.0.2.1/32", "10.4.0.2/32", "10.244.2.0/24"] });
  assert.ok(routes(onA1).includes("10.244.2.0/24 via 10.4.0.2 mesh src 10.0.1.1"));
  assert.ok(routes(onA1).includes("10.244.1.0/24 via 10.0.1.2 private"), "its pods stay reachable");
  assert.deepEqual(
    onA1.problems.map(({ object, message }) => [object.name, message]),
    [["a2", "has the public key of Node b1 and cannot lead its location"]],
  );
  assert.deepEqual(Object.keys(allowedIPs(plan("b1", { nodes }))), [K1]);
});

test("R-05: a node's key is not a Peer's, whether the node leads or not", () => {
  const onA1 = plan("a1", { peers: [p1({ publicKey: K2 })] });
  assert.deepEqual(Object.keys(allowedIPs(onA1)), [K3]);
  assert.deepEqual(problems(onA1), ["Peer lap: duplicate-key"]);
});

test("R-05: nobody's device takes its own key as a peer", () => {
  const nodes = [...f3(), node({ ...C1, key: K1 })];
  const onC1 = plan("c1", { nodes });
  assert.deepEqual(Object.keys(allowedIPs(onC1)), [K3]);
  assert.deepEqual(problems(onC1), ["Node c1: duplicate-key"]);
});

test("K-34: a Peer across the mesh's own addresses is told of both owners", () => {
  const peers = [
    p1({ allowedIPs: ["10.4.0.1/32"] }),
    peer("pods", { publicKey: key(81), allowedIPs: ["10.244.0.0/16"] }),
  ];
  const onA1 = plan("a1", { peers });
  assert.deepEqual(problems(onA1), ["Peer lap: duplicate-prefix", "Peer pods: peer-overlaps-mesh"]);
  assert.match(
    onA1.problems[0]?.message ?? "",
    /allowed IP 10\.4\.0\.1\/32 of Peer lap is also tunnel address 10\.4\.0\.1\/32 of Node a1/,
  );
  assert.deepEqual(
    onA1.nested.map(({ outer, outerOwner, inner, innerOwner, count }) => [
      outer.text,
      outerOwner.name,
      inner.text,
      innerOwner.name,
      count,
    ]),
    [["10.244.0.0/16", "pods", "10.244.0.0/24", "a1", 3]],
  );
  assert.deepEqual(problems(plan("a1", { peers: [p1({ allowedIPs: ["10.4.0.99/32"] })] })), [
    "Peer lap: peer-overlaps-mesh",
  ]);
});

test("B51: in a mixed mesh a Peer takes a node's prefix, as Kilo's agents give it, and this is told", () => {
  const peers = [p1({ allowedIPs: ["10.244.2.0/24"] })];
  const ours = plan("a1", { peers });
  assert.deepEqual([allowedIPs(ours)[K3]?.includes("10.244.2.0/24"), allowedIPs(ours)[KP]], [true, []]);
  const mixed = plan("a1", { peers, nodes: f3({ a2: { kilo: true } }) });
  assert.deepEqual(
    [allowedIPs(mixed)[K3]?.includes("10.244.2.0/24"), allowedIPs(mixed)[KP]],
    [false, ["10.244.2.0/24"]],
  );
  assert.ok(routes(mixed).includes("10.244.2.0/24 mesh src 10.0.1.1"));
  for (const planned of [ours, mixed]) assert.ok(problems(planned).includes("Peer lap: duplicate-prefix"));
});

test("K-35: a tunnel's endpoint never stands in a laptop's allowed IPs", () => {
  const nodes = f3({
    b1: { internalIP: "203.0.113.1/32", annotations: { "allowed-location-ips": "203.0.113.0/24" } },
  });
  assert.deepEqual(laptop({ nodes, peers: [p1()] })[K3], ["10.4.0.2/32", "10.244.2.0/24"]);
});

test("K-05: a laptop reaches the internal IP of a node behind NAT that nobody has heard yet", () => {
  const nodes = f3n({ b1: { internalIP: "192.168.1.5/24" } });
  const planned = planPeer(planInput("a1", { nodes, peers: [p1()] }), "lap");
  assert.ok(planned);
  const b1 = planned.peers.find(({ publicKey }) => publicKey === K3);
  assert.equal(b1?.endpoint, undefined, "an address of another LAN cannot be called");
  assert.ok(b1?.allowedIPs.some(({ text }) => text === "192.168.1.5/32"));
  assert.ok(planned.problems.some(({ reason }) => reason === "endpoint-hidden"));
});

test("R-44: an allowed-location-ip around the tunnel's endpoint gets no route", () => {
  const nodes = f3({ b1: { annotations: { "allowed-location-ips": "203.0.113.0/24" } } });
  for (const host of ["a1", "a2"]) {
    const planned = plan(host, { nodes });
    assert.ok(
      routes(planned).every((route) => !route.startsWith("203.0.113.0/24")),
      host,
    );
    assert.deepEqual(problems(planned), ["Node b1: route-to-endpoint"]);
    assert.ok(!set(planned, "keep_source").includes("203.0.113.0/24"));
  }
});

test("R-34: a Peer's default route stands in WireGuard, but never in the host's table or sets", () => {
  const planned = plan("a1", { peers: [p1({ allowedIPs: ["0.0.0.0/0", "::/0"] })] });
  assert.deepEqual(allowedIPs(planned)[KP], ["0.0.0.0/0", "::/0"]);
  assert.ok(routes(planned).every((route) => !route.startsWith("0.0.0.0/0") && !route.startsWith("::/0")));
  assert.ok(unreachable(planned).every((text) => !text.endsWith("/0")));
  for (const name of ["keep_source", "masquerade_from"] as const)
    assert.ok(set(planned, name).every((text) => !text.endsWith("/0")));
  assert.deepEqual(problems(planned), ["Peer lap: default-route-refused", "Peer lap: default-route-refused"]);
});

test("K-42: a packet to a remote allowed-location-ip is masqueraded once, where that address is", () => {
  const nodes = [...f3({ b1: { annotations: { "allowed-location-ips": "192.168.50.10/32" } } })];
  for (const host of ["a1", "a2"]) {
    assert.ok(set(plan(host, { nodes }), "keep_source").includes("192.168.50.10/32"), host);
    assert.deepEqual(set(plan(host, { nodes }), "location_ips"), []);
  }
  const onB1 = plan("b1", { nodes });
  assert.deepEqual(set(onB1, "location_ips"), ["192.168.50.10/32"]);
  assert.ok(!set(onB1, "keep_source").includes("192.168.50.10/32"));
});

test("K-43: a laptop is told the allowed-location-ips", () => {
  const nodes = f3({ b1: { annotations: { "allowed-location-ips": "192.168.50.0/24" } } });
  assert.ok(laptop({ nodes, peers: [p1()] })[K3]?.includes("192.168.50.0/24"));
});

test("K-45: --route-internal-ip=false leaves internal IPs out of the mesh", () => {
  const planned = plan("a1", { options: { routeInternalIP: false } });
  assert.deepEqual(allowedIPs(planned)[K3], ["10.4.0.2/32", "10.244.2.0/24"]);
  assert.ok(routes(planned).every((route) => !route.startsWith("10.0.2.1")));
  assert.deepEqual(set(planned, "remote_internal"), []);
  assert.ok(!set(planned, "keep_source").includes("10.0.2.1/32"));
  assert.deepEqual(planned.problems, []);
});

test("K-45 in a mixed mesh: refused, internal IPs stay, and the problem says why", () => {
  const planned = plan("a1", { nodes: f3({ b1: { kilo: true } }), options: { routeInternalIP: false } });
  assert.ok(allowedIPs(planned)[K3]?.includes("10.0.2.1/32"));
  assert.deepEqual(problems(planned), ["Option route-internal-ip: option-refused"]);
});

test("K-45 in a mixed mesh: the internal IP of a stale node is guarded too, as the routes go by what is served", () => {
  const nodes = f3({ a2: { kilo: true }, b1: { lastSeen: NOW - 3600 } });
  const planned = plan("a1", { nodes, options: { routeInternalIP: false } });
  assert.deepEqual(set(planned, "remote_internal"), ["10.0.2.1/32"]);
});

test("K-46: a node's own address is never masqueraded towards its location, also when no node is alive", () => {
  const vip = { annotations: { "allowed-location-ips": "10.0.1.0/24" } };
  for (const lastSeen of [NOW, NOW - 3600]) {
    const planned = plan("a1", { nodes: f3({ a1: { ...vip, lastSeen: NOW }, a2: { ...vip, lastSeen } }) });
    assert.deepEqual(set(planned, "location_ips"), ["10.0.1.0/24"]);
    assert.deepEqual(set(planned, "location_nodes"), ["10.0.1.1/32", "10.0.1.2/32"]);
    assert.deepEqual(set(planned, "masquerade_from"), ["10.244.0.0/24"]);
  }
});

test("K-62: firewall and WireGuard are parts of one plan, neither waits for the other", () => {
  const { state } = plan("a1");
  assert.ok(state.firewall && state.mesh);
});

test("K-70: a route whose gateway is its own destination is refused", () => {
  const nodes = [...f3({ a1: { internalIP: "10.0.1.1/24" }, b1: { internalIP: "10.0.1.1/24" } })];
  assert.ok(routes(plan("a2", { nodes })).every((route) => !route.startsWith("10.0.1.1/32")));
  const { nodes: fixture, peers } = kiloFixture();
  const onC = plan("c", { nodes: fixture, peers });
  assert.ok(problems(onC).includes("Node a: self-gateway"));
  assert.ok(routes(onC).every((route) => !route.startsWith("192.168.0.1/32")));
});

test("S-02: a Peer's host bits are cleared before anything is compared or sent", () => {
  const planned = plan("a1", { peers: [p1({ allowedIPs: ["10.5.0.1/24"] })] });
  assert.deepEqual(allowedIPs(planned)[KP], ["10.5.0.0/24"]);
  assert.ok(routes(planned).includes("10.5.0.0/24 mesh src 10.0.1.1"));
  assert.deepEqual(problems(planned), ["Peer lap: host-bits-masked"]);
});

test("S-02: the same network written twice is one, of the first Peer by name", () => {
  const { nodes, peers } = kiloFixture("ours");
  const onA = plan("a", { nodes, peers });
  assert.deepEqual(allowedIPs(onA)[key(5)], ["10.5.0.0/24"]);
  assert.ok(problems(onA).includes("Peer a: duplicate-key"));
});

test("S-05: the subnet ends: who sorts behind is left out and named, the others stay", () => {
  const nodes = [
    ...f3(),
    node(C1),
    node({
      ...C1,
      name: "d1",
      location: "D",
      internalIP: "10.0.4.1/24",
      podCIDR: "10.244.4.0/24",
      key: key(8),
    }),
  ];
  const options = { subnet: prefix("10.4.0.0/30") };
  const onA1 = plan("a1", { nodes, options });
  assert.deepEqual(
    onA1.topology.segments.map(({ tunnelAddress }) => tunnelAddress.text),
    ["10.4.0.1", "10.4.0.2"],
  );
  assert.deepEqual(problems(onA1), ["Option subnet: subnet-exhausted", "Option subnet: subnet-exhausted"]);
  const onD1 = plan("d1", { nodes, options });
  assert.equal(onD1.ready, false);
  assert.ok(problems(onD1).includes("Host d1: host-left-out"));
});

test("R-41: a subnet across pods, nodes or services is named", () => {
  const planned = plan("a1", { options: { subnet: prefix("10.244.0.0/16") } });
  assert.deepEqual(problems(planned), ["Option subnet: subnet-overlaps"]);
  const services = plan("a1", { options: { serviceCIDRs: [prefix("10.4.128.0/20")] } });
  assert.deepEqual(problems(services), ["Option subnet: subnet-overlaps"]);
});

test("nested: prefixes of one location inside each other are nobody's news", () => {
  const nodes = f3({ a1: { annotations: { "allowed-location-ips": "10.0.1.0/24" } } });
  assert.deepEqual(plan("a1", { nodes }).nested, []);
  assert.deepEqual(plan("b1", { nodes }).nested, []);
});

test("a laptop configures every segment and every other Peer, with its own keepalive and preshared key", () => {
  const peers = [
    p1({ persistentKeepalive: 10, presharedKey: K2 }),
    peer("other", { publicKey: key(81), allowedIPs: ["10.5.0.2/32"] }),
  ];
  const planned = planPeer(planInput("a1", { peers }), "lap");
  assert.deepEqual(
    planned?.peers.map((entry) => [
      entry.publicKey,
      entry.persistentKeepalive,
      entry.presharedKey?.revealText(),
    ]),
    [
      [K1, 10, K2],
      [K3, 10, K2],
      [key(81), 10, undefined],
    ],
  );
  assert.equal(planned?.ready, true);
  assert.equal(planPeer(planInput("a1"), "nobody"), undefined);
});

test("kilo.md §10.2: showconf peer b of the fixture", () => {
  const planned = planPeer(planInput("a", kiloFixture()), "b");
  const lines = planned?.peers.map(({ publicKey, allowedIPs: ips }) => [
    publicKey,
    ips.map(({ text }) => text).sort(),
  ]);
  assert.deepEqual(lines, [
    [K1, ["10.2.1.0/24", "10.4.0.1/32", "192.168.0.1/32"]],
    [K2, ["10.2.2.0/24", "10.2.3.0/24", "10.4.0.2/32", "192.168.0.2/32", "192.168.178.3/32"]],
    [key(4), ["10.2.4.0/24", "10.4.0.3/32"]],
  ]);
});
