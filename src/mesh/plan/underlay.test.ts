import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress, parsePrefix } from "../../ip/index.ts";
import { KP, p1 } from "../fixtures.test-kit.ts";
import { allowedIPs, plan, problems, routes, set, unreachable } from "../reports.test-kit.ts";

const peer = (...allowedIPs: string[]) => [p1({ allowedIPs })];

const apiServer = [parseAddress("192.0.2.1")].filter((address) => address !== undefined);

test("a Peer around the tunnels' endpoints gets no route: WireGuard's packets would end in one tunnel", () => {
  const halves = ["0.0.0.0/1", "128.0.0.0/1", "10.5.0.1/32"];
  const planned = plan("a1", { peers: peer(...halves) });
  assert.ok(!routes(planned).some((route) => route.startsWith("128.0.0.0/1")), "b1's endpoint lies in it");
  assert.ok(!unreachable(planned).includes("128.0.0.0/1"));
  assert.ok(!set(planned, "keep_source").includes("128.0.0.0/1"), "pods would leave without masquerade");
  assert.ok(routes(planned).some((route) => route.startsWith("10.5.0.1/32 mesh")));
  assert.deepEqual(allowedIPs(planned)[KP], ["0.0.0.0/1", "10.5.0.1/32", "128.0.0.0/1"]);
  assert.ok(problems(planned).includes("Peer lap: peer-over-underlay"));
});

test("a Peer that claims the API server's address cuts no agent off: it would never hear that the Peer is gone", () => {
  for (const host of ["a1", "a2", "b1"]) {
    const planned = plan(host, { peers: peer("192.0.2.1/32"), own: { apiServer } });
    assert.ok(!routes(planned).some((route) => route.startsWith("192.0.2.1/32")), host);
    assert.ok(!unreachable(planned).includes("192.0.2.1/32"), host);
    assert.deepEqual(problems(planned), ["Peer lap: peer-over-underlay"]);
  }
});

test("an endpoint on the host's own LAN keeps its way: a wider Peer gets its route", () => {
  const lan = [parsePrefix("203.0.113.0/24")].filter((prefix) => prefix !== undefined);
  const wide = { peers: peer("203.0.0.0/16") };
  assert.ok(!routes(plan("a1", wide)).some((route) => route.startsWith("203.0.0.0/16")));
  const planned = plan("a1", { ...wide, own: { connected: lan } });
  assert.ok(routes(planned).some((route) => route.startsWith("203.0.0.0/16 mesh")));
});

test("a Peer with the prefix of a link, or with the subnet, makes no host fail: the kernel's own route has that place", () => {
  const lan = [parsePrefix("10.0.1.0/24")].filter((prefix) => prefix !== undefined);
  const planned = plan("a1", { peers: peer("10.0.1.0/24", "10.4.0.0/16"), own: { connected: lan } });
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

test("a host without tunnels sends a wide Peer's packets to its leader as before", () => {
  const planned = plan("a2", { peers: peer("203.0.0.0/16") });
  assert.ok(routes(planned).some((route) => route.startsWith("203.0.0.0/16 via 10.0.1.1")));
});
