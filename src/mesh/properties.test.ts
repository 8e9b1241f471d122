/** What holds for every mesh: random ones, with all that people get wrong in them. */
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { containsAddress, familyBits } from "../ip/index.ts";
import { applyChanges } from "./changes/apply.ts";
import { diffHost, isEmptyChange } from "./changes/diff.ts";
import { type InputSketch, key, learned, NOW, node, peer, planInput } from "./fixtures.test-kit.ts";
import type { HostState } from "./host-state.ts";
import type { NodeObject, PeerObject } from "./objects.ts";
import { planPeer } from "./plan/laptop.ts";
import { type Plan, planHost } from "./plan/plan.ts";

const NOTHING: HostState = { routes: [], rules: [] };

/** Few values each, so that duplicates, overlaps and shared locations are the rule. */
const nodeNumbers = fc.record({
  internal: fc.constantFrom("", "10.0.0.1/24", "10.0.0.2/24", "10.0.1.3/24", "127.0.0.1/8", "203.0.113.1/32"),
  endpoint: fc.constantFrom(
    "203.0.113.1:51820",
    "198.51.100.2:51820",
    "10.0.0.1:51820",
    "node.example:1",
    "other.example:2",
    "-",
  ),
  pods: fc.constantFrom("10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24", "10.244.0.0/16", "fd00::/64"),
  location: fc.constantFrom("", "A", "B"),
  locationIPs: fc.constantFrom(
    undefined,
    "192.168.1.0/24",
    "192.168.1.7/32, 10.0.0.0/8",
    "203.0.113.0/24",
    "0.0.0.0/0",
  ),
  force: fc.constantFrom(undefined, "-", "192.0.2.9:4000"),
  granularity: fc.constantFrom(undefined, "location", "full", "cross"),
  keyNumber: fc.integer({ min: 1, max: 9 }),
  keepalive: fc.constantFrom(0, 10),
  leader: fc.constantFrom(undefined, "true", "false"),
  age: fc.constantFrom(0, 30, 90),
  kilo: fc.boolean(),
});

const peerNumbers = fc.record({
  allowedIPs: fc.uniqueArray(
    fc.constantFrom(
      "10.5.0.1/24",
      "10.5.0.2/24",
      "10.244.0.0/24",
      "10.4.0.1/32",
      "0.0.0.0/0",
      "203.0.113.0/24",
      "10.0.0.2/32",
      "fd00::/64",
      "foo",
    ),
  ),
  keyNumber: fc.integer({ min: 1, max: 12 }),
  endpoint: fc.constantFrom(undefined, "203.0.113.7", "10.5.0.9"),
  persistentKeepalive: fc.constantFrom(0, 25),
});

type NodeNumbers = typeof nodeNumbers extends fc.Arbitrary<infer Value> ? Value : never;
type PeerNumbers = typeof peerNumbers extends fc.Arbitrary<infer Value> ? Value : never;

function nodeOf(numbers: NodeNumbers, i: number): NodeObject {
  return node({
    name: `n${i}`,
    internalIP: numbers.internal,
    endpoint: numbers.endpoint,
    podCIDR: numbers.pods,
    location: numbers.location,
    key: key(numbers.keyNumber),
    keepalive: numbers.keepalive,
    lastSeen: NOW - numbers.age,
    kilo: numbers.kilo,
    annotations: {
      "allowed-location-ips": numbers.locationIPs,
      "force-endpoint": numbers.force,
      leader: numbers.leader,
      granularity: numbers.granularity,
    },
  });
}

function peerOf(
  { allowedIPs, keyNumber, endpoint, persistentKeepalive }: PeerNumbers,
  i: number,
): PeerObject {
  const at = endpoint === undefined ? {} : { endpoint: { dnsOrIP: { ip: endpoint }, port: 51820 } };
  return peer(`p${i}`, { publicKey: key(keyNumber), allowedIPs, persistentKeepalive, ...at });
}

interface Mesh {
  readonly nodes: readonly NodeObject[];
  readonly peers: readonly PeerObject[];
  readonly sketch: InputSketch;
}

const meshes: fc.Arbitrary<Mesh> = fc
  .record({
    nodes: fc.array(nodeNumbers, { minLength: 1, maxLength: 7 }),
    peers: fc.array(peerNumbers, { maxLength: 4 }),
    allOurs: fc.boolean(),
    granularity: fc.constantFrom("location" as const, "full" as const, "cross" as const),
    encapsulate: fc.constantFrom("never" as const, "crosssubnet" as const, "always" as const),
    compatibility: fc.constantFrom("none" as const, "flannel" as const, "cilium" as const),
    local: fc.boolean(),
    routeInternalIP: fc.boolean(),
    heard: fc.constantFrom("10.244.1.9:7", "192.168.1.7:7", "10.5.0.9:7"),
  })
  .map(({ nodes, peers, allOurs, heard, ...options }) => ({
    nodes: nodes.map((numbers, i) => nodeOf(allOurs ? { ...numbers, kilo: false } : numbers, i)),
    peers: peers.map(peerOf),
    sketch: { options, own: { learned: [learned(key(2), heard, 5), learned(key(11), heard, 500)] } },
  }));

function planOf({ nodes, peers, sketch }: Mesh, hostname: string): Plan {
  return planHost(planInput(hostname, { ...sketch, nodes, peers }));
}

function hostnames({ nodes }: Mesh): string[] {
  return nodes.map(({ metadata }) => metadata.name);
}

test("the same facts in any order give the same plan", () => {
  fc.assert(
    fc.property(meshes, fc.infiniteStream(fc.integer()), (mesh, salts) => {
      const shuffled = <Item>(items: readonly Item[]) => {
        const salted = items.map((item) => ({ item, salt: Number(salts.next().value) }));
        return salted.sort((a, b) => a.salt - b.salt).map(({ item }) => item);
      };
      const other = { ...mesh, nodes: shuffled(mesh.nodes), peers: shuffled(mesh.peers) };
      for (const hostname of hostnames(mesh)) {
        assert.deepEqual(planOf(mesh, hostname), planOf(other, hostname));
      }
    }),
    { numRuns: 100 },
  );
});

test("no two peers of a device share a prefix or a key, and none has the device's own", () => {
  fc.assert(
    fc.property(meshes, (mesh) => {
      for (const hostname of hostnames(mesh)) {
        const { state, topology } = planOf(mesh, hostname);
        const peers = state.mesh?.device.peers ?? [];
        const prefixes = peers.flatMap(({ allowedIPs }) => allowedIPs.map(({ text }) => text));
        const keys = peers.map(({ publicKey }) => publicKey);
        assert.equal(new Set(prefixes).size, prefixes.length, prefixes.join());
        assert.equal(new Set(keys).size, keys.length);
        assert.ok(topology.ownNode === undefined || !keys.includes(topology.ownNode.publicKey));
      }
    }),
    { numRuns: 100 },
  );
});

test("no route leads to the endpoint of the tunnel behind it, none is a default route, none mixes families", () => {
  fc.assert(
    fc.property(meshes, (mesh) => {
      for (const hostname of hostnames(mesh)) {
        const { state } = planOf(mesh, hostname);
        for (const route of state.routes) {
          assert.ok(route.destination.length > 0);
          for (const other of [route.gateway, route.source]) {
            assert.ok(other === undefined || other.family === route.destination.family);
          }
          const isHost = route.destination.length === familyBits(route.destination.family);
          assert.ok(route.table === 1107 || !isHost || route.gateway?.text !== route.destination.base.text);
        }
        for (const { endpoint, allowedIPs } of state.mesh?.device.peers ?? []) {
          if (endpoint === undefined) continue;
          const own = allowedIPs.filter((prefix) => containsAddress(prefix, endpoint.address));
          for (const prefix of own)
            assert.ok(!meshRoutes(state).has(prefix.text), `${hostname} ${prefix.text}`);
        }
      }
    }),
    { numRuns: 100 },
  );
});

function meshRoutes({ routes }: HostState): Set<string> {
  return new Set(routes.filter(({ link }) => link === "mesh").map(({ destination }) => destination.text));
}

test("a route into the mesh leads to a peer that holds its destination", () => {
  fc.assert(
    fc.property(meshes, (mesh) => {
      for (const hostname of hostnames(mesh)) {
        const { state } = planOf(mesh, hostname);
        const held = new Set(
          state.mesh?.device.peers.flatMap(({ allowedIPs }) => allowedIPs.map(({ text }) => text)),
        );
        for (const text of meshRoutes(state)) assert.ok(held.has(text), `${hostname} ${text}`);
      }
    }),
    { numRuns: 100 },
  );
});

test("what is applied leaves nothing to change, from nothing and from any other plan", () => {
  fc.assert(
    fc.property(meshes, meshes, (before, after) => {
      const first = planOf(before, "n0").state;
      const actual = applyChanges(NOTHING, diffHost(first, NOTHING, { now: NOW }));
      const wanted = planOf(after, "n0").state;
      const changed = applyChanges(actual, diffHost(wanted, actual, { now: NOW, previous: first }));
      const rest = diffHost(wanted, changed, { now: NOW, previous: wanted });
      assert.equal(
        isEmptyChange(rest),
        true,
        JSON.stringify(rest, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
      );
    }),
    { numRuns: 100 },
  );
});

test("one node's endpoint, keepalive or check-in changes at most one peer of any other device", () => {
  fc.assert(
    fc.property(
      meshes,
      fc.nat(),
      fc.constantFrom("192.0.2.77:7", "203.0.113.78:8"),
      (mesh, which, endpoint) => {
        const i = which % mesh.nodes.length;
        const nodes = mesh.nodes.map((object, j) => (i === j ? withEndpoint(object, endpoint) : object));
        for (const hostname of hostnames(mesh)) {
          const before = planOf(mesh, hostname);
          const after = planOf({ ...mesh, nodes }, hostname);
          const leaders = ({ topology }: Plan) => topology.segments.map(({ leader }) => leader.name).join();
          if (hostname === `n${i}` || leaders(before) !== leaders(after)) continue;
          const { device } = diffHost(after.state, before.state, { now: NOW, previous: before.state });
          assert.ok((device?.peers.length ?? 0) <= 1, hostname);
        }
      },
    ),
    { numRuns: 100 },
  );
});

function withEndpoint(object: NodeObject, endpoint: string): NodeObject {
  const annotations = { ...object.metadata.annotations, "kilo.squat.ai/force-endpoint": endpoint };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

test("a laptop never routes a tunnel's endpoint into that tunnel", () => {
  fc.assert(
    fc.property(meshes, (mesh) => {
      for (const { metadata } of mesh.peers) {
        const plan = planPeer(
          planInput("n0", { ...mesh.sketch, nodes: mesh.nodes, peers: mesh.peers }),
          metadata.name,
        );
        for (const { endpoint, allowedIPs } of plan?.peers ?? []) {
          assert.ok(
            allowedIPs.every(
              (prefix) =>
                prefix.length === 0 || endpoint === undefined || !containsAddress(prefix, endpoint.address),
            ),
          );
        }
      }
    }),
    { numRuns: 100 },
  );
});
