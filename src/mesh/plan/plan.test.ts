/** The plan of a host on the base fixture F3. */
import assert from "node:assert/strict";
import test from "node:test";
import { formatEndpoint } from "../../wireguard/index.ts";
import { K2, K3, KP, p1, planInput } from "../fixtures.test-kit.ts";
import type { HostState } from "../host-state.ts";
import { planHost } from "./plan.ts";

function routes({ routes }: HostState): string[] {
  return routes.map(({ kind, destination, link, gateway, source }) => {
    const via = gateway === undefined ? "" : ` via ${gateway.text}`;
    const from = source === undefined ? "" : ` src ${source.text}`;
    return kind === "unreachable"
      ? `unreachable ${destination.text}`
      : `${destination.text}${via} ${link}${from}`;
  });
}

function sets(state: HostState): Record<string, string[]> {
  const entries = Object.entries(state.firewall?.sets ?? {});
  return Object.fromEntries(entries.map(([name, prefixes]) => [name, prefixes.map(({ text }) => text)]));
}

test("F3: a1 leads A and has exactly one WireGuard peer, b1", () => {
  const plan = planHost(planInput("a1"));
  assert.deepEqual(plan.problems, []);
  assert.equal(plan.mode, "kilomesh");
  assert.equal(plan.ready, true);
  assert.equal(plan.leader, true);
  assert.deepEqual(plan.counts, { nodes: 3, peers: 0 });
  assert.equal(plan.published.wireguardIP?.text, "10.4.0.1/16");
  const { mesh } = plan.state;
  assert.equal(mesh?.up, true);
  assert.deepEqual(
    mesh.addresses.map(({ text }) => text),
    ["10.4.0.1/16"],
  );
  assert.equal(mesh.device.listenPort, 51820);
  const [peer, ...others] = mesh.device.peers;
  assert.deepEqual(others, []);
  assert.equal(peer?.publicKey, K3);
  assert.equal(peer.endpoint && formatEndpoint(peer.endpoint), "203.0.113.1:51820");
  assert.deepEqual(
    peer.allowedIPs.map(({ text }) => text),
    ["10.0.2.1/32", "10.4.0.2/32", "10.244.2.0/24"],
  );
  assert.deepEqual(routes(plan.state), [
    "10.244.2.0/24 via 10.4.0.2 mesh src 10.0.1.1",
    "10.0.2.1/32 via 10.4.0.2 mesh src 10.0.1.1",
    "10.244.1.0/24 via 10.0.1.2 private",
    "unreachable 10.4.0.0/16",
    "unreachable 10.244.1.0/24",
    "unreachable 10.244.2.0/24",
  ]);
  assert.deepEqual(
    plan.state.cni?.ranges.map(({ text }) => text),
    ["10.244.0.0/24"],
  );
});

test("F3: a2 has its link down and sends B's addresses to a1", () => {
  const plan = planHost(planInput("a2", { peers: [p1()] }));
  assert.equal(plan.leader, false);
  assert.deepEqual(
    { ...plan.state.mesh, device: plan.state.mesh?.device.peers },
    { up: false, mtu: 1420, addresses: [], device: [] },
  );
  assert.deepEqual(routes(plan.state), [
    "10.4.0.1/32 via 10.0.1.1 private",
    "10.4.0.2/32 via 10.0.1.1 private",
    "10.244.2.0/24 via 10.0.1.1 private",
    "10.0.2.1/32 via 10.0.1.1 private",
    "10.5.0.1/32 via 10.0.1.1 private",
    "10.244.0.0/24 via 10.0.1.1 private",
    "unreachable 10.4.0.0/16",
    "unreachable 10.5.0.1/32",
    "unreachable 10.244.0.0/24",
    "unreachable 10.244.2.0/24",
  ]);
  assert.equal(plan.state.firewall?.remoteInternalLink, "private");
});

test("F3 with a laptop: the firewall's sets on a1", () => {
  const plan = planHost(planInput("a1", { peers: [p1()] }));
  assert.deepEqual(sets(plan.state), {
    masquerade_from: ["10.5.0.1/32", "10.244.0.0/24"],
    keep_source: [
      "10.0.1.1/32",
      "10.0.1.2/32",
      "10.0.2.1/32",
      "10.4.0.0/16",
      "10.5.0.1/32",
      "10.244.0.0/23",
      "10.244.2.0/24",
    ],
    location_ips: [],
    location_nodes: ["10.0.1.1/32", "10.0.1.2/32"],
    remote_internal: ["10.0.2.1/32"],
  });
  assert.equal(plan.state.firewall?.remoteInternalLink, "mesh");
  assert.deepEqual(
    plan.state.mesh?.device.peers.map(({ publicKey }) => publicKey),
    [K3, KP],
  );
});

test("a host without Node object is told so, and fails closed", () => {
  const plan = planHost(planInput("elsewhere"));
  assert.equal(plan.ready, false);
  assert.equal(plan.state.mesh, undefined);
  assert.deepEqual(
    plan.problems.map(({ reason }) => reason),
    ["host-unknown"],
  );
  assert.deepEqual(routes(plan.state), [
    "unreachable 10.4.0.0/16",
    "unreachable 10.244.0.0/24",
    "unreachable 10.244.1.0/24",
    "unreachable 10.244.2.0/24",
  ]);
  assert.equal(plan.state.firewall?.remoteInternalLink, undefined);
});

test("K2 never stands on a device: a2 leads nothing", () => {
  const plan = planHost(planInput("b1"));
  assert.ok(plan.state.mesh?.device.peers.every(({ publicKey }) => publicKey !== K2));
});
