/** The 16 route tables of kilo.md §6.6, and what they do not cover: overlays, both families, `cross`. */
import assert from "node:assert/strict";
import test from "node:test";
import { f3, key, kiloFixture, node } from "../fixtures.test-kit.ts";
import type { Encapsulation, Granularity, MeshOptions } from "../options.ts";
import { wantedRouting } from "./routes.ts";
import { routeTexts, ruleTexts, topologyOf } from "./topology.test-kit.ts";

function routing(hostname: string, options: Partial<MeshOptions>) {
  const topology = topologyOf({ ...kiloFixture(), hostname, options });
  const { local = true, encapsulate = "never", compatibility = "none" } = options;
  return wantedRouting(topology, { local, encapsulate, compatibility });
}

const PEERS = ["10.5.0.1/24", "10.5.0.2/24", "10.5.0.3/24"];

/** `via` these gateways on a link, with the same tail on each. */
function lines(destinations: readonly string[], tail: string): string[] {
  return destinations.map((destination) => `${destination} ${tail}`);
}

function viaTunnel(destinations: readonly string[], gateway: string, source?: string): string[] {
  return lines(destinations, `via ${gateway} dev kilo onlink${source === undefined ? "" : ` src ${source}`}`);
}

function peers(source?: string): string[] {
  return lines(PEERS, `dev kilo${source === undefined ? "" : ` src ${source}`}`);
}

const OF_A = ["10.2.1.0/24", "192.168.0.1/32"];
const OF_B_AND_C = ["10.2.2.0/24", "192.168.0.1/32", "10.2.3.0/24", "192.168.0.2/32", "192.168.178.3/32"];
const OF_D = ["10.2.4.0/24"];

const FROM_A = [
  ...viaTunnel(OF_B_AND_C, "10.4.0.2", "192.168.0.1"),
  ...viaTunnel(OF_D, "10.4.0.3", "192.168.0.1"),
  ...peers("192.168.0.1"),
];
const FROM_B = [
  ...viaTunnel(OF_A, "10.4.0.1", "192.168.0.1"),
  ...viaTunnel(OF_D, "10.4.0.3", "192.168.0.1"),
  ...peers("192.168.0.1"),
];
const FROM_C = ["10.4.0.1/32", ...OF_A, "10.4.0.2/32", "10.4.0.3/32", ...OF_D, ...PEERS];
const FROM_D = [...viaTunnel(OF_A, "10.4.0.1"), ...viaTunnel(OF_B_AND_C, "10.4.0.2"), ...peers()];
const FULL_A = [
  ...viaTunnel(["10.2.2.0/24", "192.168.0.1/32", "192.168.178.3/32"], "10.4.0.2", "192.168.0.1"),
  ...viaTunnel(["10.2.3.0/24", "192.168.0.2/32"], "10.4.0.3", "192.168.0.1"),
  ...viaTunnel(OF_D, "10.4.0.4", "192.168.0.1"),
  ...peers("192.168.0.1"),
];
const FULL_B = [
  ...viaTunnel(OF_A, "10.4.0.1", "192.168.0.1"),
  ...viaTunnel(["10.2.3.0/24", "192.168.0.2/32"], "10.4.0.3", "192.168.0.1"),
  ...viaTunnel(OF_D, "10.4.0.4", "192.168.0.1"),
  ...peers("192.168.0.1"),
];
const FULL_C = [
  ...viaTunnel(OF_A, "10.4.0.1", "192.168.0.2"),
  ...viaTunnel(["10.2.2.0/24", "192.168.0.1/32", "192.168.178.3/32"], "10.4.0.2", "192.168.0.2"),
  ...viaTunnel(OF_D, "10.4.0.4", "192.168.0.2"),
  ...peers("192.168.0.2"),
];
const FULL_D = [
  ...viaTunnel(OF_A, "10.4.0.1"),
  ...viaTunnel(["10.2.2.0/24", "192.168.0.1/32", "192.168.178.3/32"], "10.4.0.2"),
  ...viaTunnel(["10.2.3.0/24", "192.168.0.2/32"], "10.4.0.3"),
  ...peers(),
];

interface Table {
  readonly hostname: string;
  readonly granularity: Granularity;
  readonly local: boolean;
  readonly encapsulate: Encapsulation;
  readonly routes: readonly string[];
  readonly rules?: readonly string[];
}

const TABLES: readonly Table[] = [
  ...eachLocality("a", "location", "never", FROM_A),
  { hostname: "a", granularity: "location", local: true, encapsulate: "always", routes: FROM_A },
  { hostname: "b", granularity: "location", local: false, encapsulate: "never", routes: FROM_B },
  {
    hostname: "b",
    granularity: "location",
    local: true,
    encapsulate: "never",
    routes: [...FROM_B, "10.2.3.0/24 via 192.168.0.2 dev priv onlink"],
  },
  {
    hostname: "b",
    granularity: "location",
    local: true,
    encapsulate: "always",
    routes: [
      ...FROM_B,
      "10.2.3.0/24 via 192.168.0.2 dev tunl onlink src 192.168.0.1",
      "192.168.0.2/32 via 192.168.0.2 dev tunl onlink src 192.168.0.1 table 1107",
    ],
    rules: ["from 10.2.2.0/24 to 192.168.0.2/32 table 1107", "to 192.168.0.2/32 iif kilo0 table 1107"],
  },
  {
    hostname: "c",
    granularity: "location",
    local: false,
    encapsulate: "never",
    routes: lines(FROM_C, "via 192.168.0.1 dev priv onlink"),
  },
  {
    hostname: "c",
    granularity: "location",
    local: true,
    encapsulate: "never",
    routes: lines([...FROM_C, "10.2.2.0/24"], "via 192.168.0.1 dev priv onlink"),
  },
  {
    hostname: "c",
    granularity: "location",
    local: true,
    encapsulate: "always",
    routes: [
      ...lines([...FROM_C, "10.2.2.0/24"], "via 192.168.0.1 dev tunl onlink src 192.168.0.2"),
      "192.168.0.1/32 via 192.168.0.1 dev tunl onlink src 192.168.0.2 table 1107",
    ],
    rules: ["from 10.2.3.0/24 to 192.168.0.1/32 table 1107"],
  },
  ...eachLocality("d", "location", "never", FROM_D),
  ...eachLocality("a", "full", "never", FULL_A),
  ...eachLocality("b", "full", "never", FULL_B),
  ...eachLocality("c", "full", "never", FULL_C),
  ...eachLocality("d", "full", "never", FULL_D),
];

function eachLocality(
  hostname: string,
  granularity: Granularity,
  encapsulate: Encapsulation,
  routes: string[],
): Table[] {
  return [true, false].map((local) => ({ hostname, granularity, local, encapsulate, routes }));
}

for (const { hostname, granularity, local, encapsulate, routes, rules = [] } of TABLES) {
  test(`kilo.md §6.6: ${granularity} from ${hostname}, local=${local}, ${encapsulate}`, () => {
    const wanted = routing(hostname, { granularity, local, encapsulate });
    assert.deepEqual(routeTexts(wanted), [...routes].sort());
    assert.deepEqual(ruleTexts(wanted), [...rules].sort());
  });
}

test("crosssubnet encapsulates only towards gateways outside the own internal network", () => {
  const near = {
    internalIP: "10.9.0.1/24",
    location: "x",
    podCIDR: "10.2.1.0/24",
    endpoint: "8.8.8.8:1",
    key: key(1),
  };
  const nodes = [
    node({ name: "near", ...near }),
    node({ name: "same", ...near, internalIP: "10.9.0.2/24", podCIDR: "10.2.2.0/24", key: key(2) }),
    node({ name: "other", ...near, internalIP: "10.9.1.3/24", podCIDR: "10.2.3.0/24", key: key(3) }),
  ];
  const topology = topologyOf({ nodes, hostname: "same" });
  const wanted = wantedRouting(topology, { local: true, encapsulate: "crosssubnet", compatibility: "none" });
  assert.deepEqual(routeTexts(wanted), [
    "10.2.1.0/24 via 10.9.0.1 dev priv onlink",
    "10.2.3.0/24 via 10.9.1.3 dev tunl onlink src 10.9.0.2",
    "10.4.0.1/32 via 10.9.0.1 dev priv onlink",
    "10.9.1.3/32 via 10.9.1.3 dev tunl onlink src 10.9.0.2 table 1107",
  ]);
  assert.deepEqual(ruleTexts(wanted), ["from 10.2.2.0/24 to 10.9.1.3/32 table 1107"]);
});

test("flannel: a non-leader's gateway is the base of the leader's pod CIDR, always encapsulated", () => {
  const wanted = routing("c", { compatibility: "flannel", local: false, encapsulate: "always" });
  assert.ok(routeTexts(wanted).includes("10.2.1.0/24 via 10.2.2.0 dev tunl onlink src 192.168.0.2"));
});

test("flannel without local: a leader encapsulates only what comes out of the mesh", () => {
  const wanted = routing("b", { compatibility: "flannel", local: false, encapsulate: "crosssubnet" });
  assert.ok(routeTexts(wanted).includes("192.168.0.2/32 via 10.2.3.0 dev tunl onlink table 1107"));
  assert.deepEqual(ruleTexts(wanted), ["to 192.168.0.2/32 iif kilo0 table 1107"]);
});

test("cilium: the gateway is the node's cni-compatibility-ip, and the pod CIDR's base where there is none", () => {
  const { nodes } = kiloFixture();
  const [a, b, c] = nodes;
  assert.ok(a && b && c);
  const withCilium = {
    ...b,
    metadata: {
      ...b.metadata,
      annotations: { ...b.metadata.annotations, "kilo.squat.ai/cni-compatibility-ip": "10.2.2.9/32" },
    },
  };
  const rules = { local: false, encapsulate: "always", compatibility: "cilium" } as const;
  const through = wantedRouting(topologyOf({ nodes: [a, withCilium, c], hostname: "c" }), rules);
  assert.ok(routeTexts(through).includes("10.2.1.0/24 via 10.2.2.9 dev tunl onlink src 192.168.0.2"));
  const without = wantedRouting(topologyOf({ nodes: [a, b, c], hostname: "c" }), rules);
  assert.ok(routeTexts(without).includes("10.2.1.0/24 via 10.2.2.0 dev tunl onlink src 192.168.0.2"));
});

test("B10: a gateway or source of the other family is never used", () => {
  const nodes = [
    node({
      name: "a",
      endpoint: "8.8.8.8:1",
      internalIP: "10.9.0.1/24",
      location: "x",
      podCIDRs: ["10.2.1.0/24", "fd00:2:1::/64"],
      key: key(1),
    }),
    node({
      name: "b",
      endpoint: "8.8.4.4:1",
      internalIP: "10.9.1.1/24",
      location: "y",
      podCIDRs: ["10.2.2.0/24", "fd00:2:2::/64"],
      key: key(2),
    }),
    node({
      name: "c",
      endpoint: "10.9.1.2:1",
      internalIP: "10.9.1.2/24",
      location: "y",
      podCIDRs: ["10.2.3.0/24", "fd00:2:3::/64"],
      key: key(3),
    }),
  ];
  const rules = { local: true, encapsulate: "never", compatibility: "none" } as const;
  const leader = routeTexts(wantedRouting(topologyOf({ nodes, hostname: "a" }), rules));
  assert.ok(leader.includes("fd00:2:2::/64 dev kilo"));
  assert.ok(leader.includes("10.2.2.0/24 via 10.4.0.2 dev kilo onlink src 10.9.0.1"));
  const through = routeTexts(wantedRouting(topologyOf({ nodes, hostname: "c" }), rules));
  assert.deepEqual(
    through.filter((text) => text.startsWith("fd00")),
    [],
  );
});

test("kilo.md §6.5: a leader has no route to an internal IP that is the far leader's endpoint; a follower of Kilo's has (B54)", () => {
  const nodes = f3({ b1: { internalIP: "203.0.113.1/32" } });
  const rules = { local: false, encapsulate: "never", compatibility: "none" } as const;
  const wanted = (hostname: string) => routeTexts(wantedRouting(topologyOf({ nodes, hostname }), rules));
  assert.deepEqual(wanted("a1"), ["10.244.2.0/24 via 10.4.0.2 dev kilo onlink src 10.0.1.1"]);
  assert.ok(wanted("a2").includes("203.0.113.1/32 via 10.0.1.1 dev priv onlink"));
});
