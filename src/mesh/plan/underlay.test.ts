import assert from "node:assert/strict";
import { test } from "node:test";
import { containsAddress, type Prefix, parseAddress, parsePrefix } from "../../ip/index.ts";
import { f3, KP, key, node, p1, peer } from "../fixtures.test-kit.ts";
import { POLICY_TABLE } from "../names.ts";
import { allowedIPs, plan, problems, routes, set, unreachable } from "../reports.test-kit.ts";
import type { Plan } from "./plan.ts";

const claiming = (...allowedIPs: string[]) => [p1({ allowedIPs })];

const apiServer = [parseAddress("192.0.2.1")].filter((address) => address !== undefined);

test("a Peer around the tunnels' endpoints gets no route: WireGuard's packets would end in one tunnel", () => {
  const halves = ["0.0.0.0/1", "128.0.0.0/1", "10.5.0.1/32"];
  const planned = plan("a1", { peers: claiming(...halves) });
  assert.ok(!routes(planned).some((route) => route.startsWith("128.0.0.0/1")), "b1's endpoint lies in it");
  assert.ok(!unreachable(planned).includes("128.0.0.0/1"));
  assert.ok(!set(planned, "keep_source").includes("128.0.0.0/1"), "pods would leave without masquerade");
  assert.ok(routes(planned).some((route) => route.startsWith("10.5.0.1/32 mesh")));
  assert.deepEqual(allowedIPs(planned)[KP], ["0.0.0.0/1", "10.5.0.1/32", "128.0.0.0/1"]);
  assert.ok(problems(planned).includes("Peer lap: peer-over-underlay"));
});

test("a Peer that claims the API server's address cuts no agent off: it would never hear that the Peer is gone", () => {
  for (const host of ["a1", "a2", "b1"]) {
    const planned = plan(host, { peers: claiming("192.0.2.1/32"), own: { apiServer } });
    assert.ok(!routes(planned).some((route) => route.startsWith("192.0.2.1/32")), host);
    assert.ok(!unreachable(planned).includes("192.0.2.1/32"), host);
    assert.deepEqual(problems(planned), ["Peer lap: peer-over-underlay"]);
  }
});

test("an endpoint on the host's own LAN keeps its way: a wider Peer gets its route", () => {
  const lan = [parsePrefix("203.0.113.0/24")].filter((prefix) => prefix !== undefined);
  const wide = { peers: claiming("203.0.0.0/16") };
  assert.ok(!routes(plan("a1", wide)).some((route) => route.startsWith("203.0.0.0/16")));
  const planned = plan("a1", { ...wide, own: { connected: lan } });
  assert.ok(routes(planned).some((route) => route.startsWith("203.0.0.0/16 mesh")));
});

test("a Peer with the prefix of a link, or with the subnet, makes no host fail: the kernel's own route has that place", () => {
  const lan = [parsePrefix("10.0.1.0/24")].filter((prefix) => prefix !== undefined);
  const planned = plan("a1", { peers: claiming("10.0.1.0/24", "10.4.0.0/16"), own: { connected: lan } });
  assert.ok(!routes(planned).some((route) => /^10\.(0\.1|4\.0)\.0\//.test(route)));
  assert.ok(unreachable(planned).includes("10.4.0.0/16"));
  const told = planned.problems.filter(({ reason }) => reason === "peer-over-underlay");
  assert.deepEqual(
    told.map(({ message }) => message),
    [
      "no route for 10.0.1.0/24: a link of this host has it",
      "no route for 10.4.0.0/16: a link of this host has it",
    ],
  );
});

const site = (endpoint: string) => [
  p1({ allowedIPs: ["192.0.2.0/24"] }),
  peer("x", {
    publicKey: key(4),
    allowedIPs: ["10.6.0.1/32"],
    endpoint: { dnsOrIP: { ip: endpoint }, port: 1 },
  }),
];

test("a pod's packet to a Peer around another Peer's endpoint leaves in clear on no host, a leader or not", () => {
  for (const host of ["a1", "a2", "b1"]) {
    const planned = plan(host, { peers: site("192.0.2.9") });
    assert.deepEqual(routesTo("192.0.2.0/24", planned), [], host);
    assert.ok(!unreachable(planned).includes("192.0.2.0/24"), `${host} itself reaches it`);
    assert.ok(set(planned, "remote_internal").includes("192.0.2.0/24"), host);
    assert.ok(!set(planned, "keep_source").includes("192.0.2.0/24"), host);
    assert.deepEqual(problems(planned), ["Peer lap: peer-over-underlay"], host);
  }
});

test("a pod's packet does not leave by its follower's own uplink either: it is the link to the leader too", () => {
  const { state } = plan("a2", { peers: site("192.0.2.9") });
  assert.equal(state.firewall?.remoteInternalLink, "private");
  const rules = state.rules.map(({ from, to, table }) => `${from?.text} ${to?.text} ${table}`);
  assert.deepEqual(rules, [`10.244.1.0/24 192.0.2.0/24 ${POLICY_TABLE}`]);
  const closed = state.routes.filter(({ table }) => table === POLICY_TABLE);
  assert.deepEqual(
    closed.map(({ kind, destination }) => `${kind} ${destination.text}`),
    ["unreachable 192.0.2.0/24"],
  );
});

test("a Peer around its own endpoint gets no route, and nothing is forwarded to it in clear", () => {
  const endpoint = { dnsOrIP: { ip: "192.0.2.9" }, port: 1 };
  for (const host of ["a1", "a2"]) {
    const planned = plan(host, { peers: [p1({ allowedIPs: ["192.0.2.0/24"], endpoint })] });
    assert.deepEqual(routesTo("192.0.2.0/24", planned), [], host);
    assert.ok(set(planned, "remote_internal").includes("192.0.2.0/24"), host);
  }
});

test("a refused Peer cuts pods off from neither the API server, the LAN, the nodes nor longer routes of the mesh", () => {
  const lan = [parsePrefix("192.0.2.128/26")].filter((prefix) => prefix !== undefined);
  const nodes = f3({ a2: { internalIP: "192.0.2.64/32" } });
  const peers = [...site("192.0.2.9"), peer("y", { publicKey: key(9), allowedIPs: ["192.0.2.192/26"] })];
  const planned = plan("a1", { nodes, peers, own: { apiServer, connected: lan } });
  assert.ok(routes(planned).some((route) => route.startsWith("192.0.2.192/26 mesh")));
  const guarded = set(planned, "remote_internal").filter((text) => text.startsWith("192.0.2."));
  const closes = (text: string) =>
    guarded.some((prefix) => containsAddress(parsed(prefix), parsed(`${text}/32`).base));
  for (const open of ["192.0.2.1", "192.0.2.64", "192.0.2.130", "192.0.2.200"])
    assert.ok(!closes(open), open);
  for (const closed of ["192.0.2.2", "192.0.2.9", "192.0.2.65", "192.0.2.127"])
    assert.ok(closes(closed), closed);
});

const takesC1 = (kilo: boolean, prefixes: string) =>
  [
    ...f3({ b1: { kilo, annotations: { "allowed-location-ips": prefixes } } }),
    node({
      name: "c1",
      location: "C",
      endpoint: "198.51.100.50:51820",
      internalIP: "10.0.3.1/24",
      podCIDR: "10.244.3.0/24",
      key: key(4),
      kilo,
    }),
  ] as const;

test("a node's allowed-location-ips around another tunnel's endpoint take no agent's way to it", () => {
  for (const host of ["a1", "a2"]) {
    const planned = plan(host, { nodes: takesC1(false, "198.51.100.0/25") });
    assert.deepEqual(routesTo("198.51.100.0/25", planned), [], host);
    const told = planned.problems.filter(({ reason }) => reason === "location-ip-over-underlay");
    assert.deepEqual(
      told.map(({ object, message }) => `${object.kind} ${object.name}: ${message}`),
      ["Node b1: no route for 198.51.100.0/25: the endpoint of Node c1, 198.51.100.50, lies in it"],
      host,
    );
    assert.ok(set(planned, "remote_internal").length > 1, host);
    assert.deepEqual(set(planned, "keep_source").includes("198.51.100.0/25"), false, host);
  }
});

test("a node's allowed-location-ips with the API server cut no agent off, in a mesh with Kilo's agents too", () => {
  for (const kilo of [false, true]) {
    const nodes = takesC1(kilo, "192.0.2.0/25,198.51.100.0/25");
    const planned = plan("a1", { nodes, own: { apiServer } });
    assert.equal(planned.mode, kilo ? "kilo" : "kilomesh");
    assert.deepEqual(routesTo("192.0.2.0/25", planned), []);
    assert.equal(routesTo("198.51.100.0/25", planned).length, kilo ? 1 : 0, "Kilo's agents route it");
    const told = planned.problems.filter(({ reason }) => reason === "location-ip-over-underlay");
    assert.equal(told.length, kilo ? 1 : 2);
  }
});

test("a subnet across the host's own network does not lock a follower out, and its pods still fail closed", () => {
  const nodes = f3({ a1: { internalIP: "10.4.1.1/20" }, a2: { internalIP: "10.4.1.2/20" } });
  for (const connected of [["10.4.0.0/20"], ["10.4.1.2/32"], ["10.0.0.0/8"]]) {
    const planned = plan("a2", { nodes, own: { connected: connected.map(parsed) } });
    assert.ok(!unreachable(planned).some((text) => text === "10.4.0.0/16"), `${connected}`);
    assert.ok(
      set(planned, "remote_internal").some((text) => text === "10.4.128.0/17"),
      `${connected}`,
    );
    assert.ok(
      planned.state.rules.some(({ from, to }) => from && to?.text === "10.4.0.0/16"),
      `${connected}`,
    );
    assert.ok(problems(planned).includes("Option subnet: subnet-overlaps"));
  }
});

test("a subnet or pod CIDR with the API server in it does not cut the agent off", () => {
  const inside = (text: string) => [parsed(`${text}/32`).base];
  for (const [address, prefix] of [
    ["10.4.200.1", "10.4.0.0/16"],
    ["10.244.2.9", "10.244.2.0/24"],
  ] as const) {
    const planned = plan("a2", { own: { apiServer: inside(address) } });
    assert.ok(!unreachable(planned).includes(prefix), prefix);
  }
});

test("annotations open nothing: the subnet stays unreachable where no link of this host is in it", () => {
  const nodes = f3({ b1: { internalIP: "10.4.9.9/16" } });
  assert.ok(unreachable(plan("a2", { nodes })).includes("10.4.0.0/16"));
  assert.deepEqual(plan("a2", { nodes }).state.rules, []);
});

function routesTo(text: string, planned: Plan): string[] {
  return routes(planned).filter((route) => route.startsWith(`${text} `));
}

function parsed(text: string): Prefix {
  return parsePrefix(text) ?? assert.fail(text);
}
