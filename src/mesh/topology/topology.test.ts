/** The worked examples of kilo.md §5, and `cross` as it is and beyond. */
import assert from "node:assert/strict";
import test from "node:test";
import { hostPrefix } from "../../ip/index.ts";
import { formatEndpoint } from "../../wireguard/index.ts";
import {
  address,
  f3,
  K1,
  K2,
  K3,
  key,
  kiloFixture,
  learned,
  node,
  p1,
  peer,
  prefix,
} from "../fixtures.test-kit.ts";
import type { NodeObject } from "../objects.ts";
import type { Granularity } from "../options.ts";
import { filterLocationIPs, type LocationIPsOf } from "./allowed-location-ips.ts";
import { tunnelAddress } from "./numbering.ts";
import { compareBytes } from "./order.ts";
import { topologyOf } from "./topology.test-kit.ts";
import type { Segment } from "./topology.ts";
import { tunnelledSegments } from "./tunnels.ts";

function texts(values: readonly { readonly text: string }[]): string[] {
  return values.map(({ text }) => text);
}

function summary(segment: Segment) {
  const members = segment.members.map(({ name }) => name).join(",");
  return [
    segment.name,
    members,
    segment.leader.name,
    segment.tunnelAddress.text,
    texts(segment.allowedIPs).join(" "),
    texts(segment.allowedLocationIPs).join(" "),
  ];
}

function fixture(hostname: string, granularity: Granularity) {
  return topologyOf({ ...kiloFixture(), hostname, options: { granularity } });
}

test("kilo.md §5.9: segments of granularity location", () => {
  assert.deepEqual(fixture("a", "location").segments.map(summary), [
    ["location:1", "a", "a", "10.4.0.1", "10.2.1.0/24 192.168.0.1/32 10.4.0.1/32", ""],
    [
      "location:2",
      "b,c",
      "b",
      "10.4.0.2",
      "10.2.2.0/24 192.168.0.1/32 10.2.3.0/24 192.168.0.2/32 10.4.0.2/32",
      "192.168.178.3/32",
    ],
    ["node:d", "d", "d", "10.4.0.3", "10.2.4.0/24 10.4.0.3/32", ""],
  ]);
});

test("kilo.md §5.9: segments of granularity full", () => {
  assert.deepEqual(fixture("a", "full").segments.map(summary), [
    ["node:a", "a", "a", "10.4.0.1", "10.2.1.0/24 192.168.0.1/32 10.4.0.1/32", ""],
    ["node:b", "b", "b", "10.4.0.2", "10.2.2.0/24 192.168.0.1/32 10.4.0.2/32", "192.168.178.3/32"],
    ["node:c", "c", "c", "10.4.0.3", "10.2.3.0/24 192.168.0.2/32 10.4.0.3/32", ""],
    ["node:d", "d", "d", "10.4.0.4", "10.2.4.0/24 10.4.0.4/32", ""],
  ]);
});

test("kilo.md §5.9: the views of a, b, c and d", () => {
  const view = (hostname: string) => {
    const topology = fixture(hostname, "location");
    return [
      topology.own?.name,
      topology.leader,
      topology.wireguardIP?.text,
      topology.ownNode?.internalIPs[0]?.text,
    ];
  };
  assert.deepEqual(view("a"), ["location:1", true, "10.4.0.1/16", "192.168.0.1/32"]);
  assert.deepEqual(view("b"), ["location:2", true, "10.4.0.2/16", "192.168.0.1/32"]);
  assert.deepEqual(view("c"), ["location:2", false, undefined, "192.168.0.2/32"]);
  assert.deepEqual(view("d"), ["node:d", true, "10.4.0.3/16", undefined]);
});

test("kilo.md §5.2: TestFindLeader", () => {
  const PRIVATE = "10.0.0.1:51820";
  const PUBLIC = "8.8.8.8:51820";
  const candidates: Readonly<Record<string, readonly [string, boolean]>> = {
    a: [PRIVATE, false],
    b: [PUBLIC, false],
    c: [PUBLIC, false],
    d: [PRIVATE, true],
    "2": [PUBLIC, true],
  };
  const leaderOf = (...names: string[]) => {
    const nodes = names.map((name, i) => {
      const [endpoint, leads] = candidates[name] ?? [PRIVATE, false];
      const annotations = leads ? { leader: "" } : {};
      return node({
        name,
        endpoint,
        internalIP: `10.9.0.${i + 1}/24`,
        podCIDR: `10.2.${i}.0/24`,
        key: key(i + 1),
        annotations,
        kilo: true,
      });
    });
    return topologyOf({ nodes, hostname: "a" }).segments[0]?.leader.name;
  };
  assert.equal(leaderOf("a"), "a");
  assert.equal(leaderOf("a", "b", "c"), "b");
  assert.equal(leaderOf("d", "2"), "2");
  assert.equal(leaderOf("b", "c", "2"), "2");
  assert.equal(leaderOf("a", "d"), "d");
  assert.equal(leaderOf("a", "b", "c", "d", "2"), "2");
});

test("kilo.md §5.3: TestAllocator, and where the subnet ends", () => {
  const numbers = (subnet: string, mode: "kilo" | "kilomesh") =>
    [1, 2, 3].map((k) => tunnelAddress(prefix(subnet), k, mode)?.text);
  assert.deepEqual(numbers("10.0.0.0/16", "kilo"), ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
  assert.deepEqual(numbers("10.0.0.0/32", "kilo"), [undefined, undefined, undefined]);
  assert.deepEqual(numbers("10.0.0.0/31", "kilo"), ["10.0.0.1", undefined, undefined]);
  assert.deepEqual(numbers("10.0.0.0/30", "kilo"), ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
  assert.deepEqual(numbers("10.0.0.0/30", "kilomesh"), ["10.0.0.1", "10.0.0.2", undefined]);
  assert.deepEqual(numbers("10.0.0.0/31", "kilomesh"), ["10.0.0.1", undefined, undefined]);
  assert.deepEqual(numbers("fd00::/126", "kilomesh"), ["fd00::1", "fd00::2", "fd00::3"]);
});

test("kilo.md §5.4: TestDeduplicatePeerIPs", () => {
  const ips = (...last: number[]) => last.map((byte) => `10.5.0.${byte}/32`);
  const kept = (peers: Readonly<Record<string, string[]>>) => {
    const objects = Object.entries(peers).map(([name, allowedIPs], i) =>
      peer(name, { publicKey: key(i + 50), allowedIPs }),
    );
    const topology = topologyOf({ nodes: f3(), peers: objects, hostname: "a1" });
    return Object.fromEntries(topology.peers.map(({ name, allowedIPs }) => [name, texts(allowedIPs)]));
  };
  assert.deepEqual(kept({ p1: ips(1, 2), p2: ips(1, 3) }), { p1: ips(1, 2), p2: ips(3) });
  assert.deepEqual(kept({ p2: ips(1, 3), p1: ips(1, 2) }), { p1: ips(1, 2), p2: ips(3) });
  assert.deepEqual(kept({ p0: ips(2, 3, 1), p1: ips(1, 2), p2: ips(1, 3) }), {
    p0: ips(2, 3, 1),
    p1: [],
    p2: [],
  });
  assert.deepEqual(kept({ p4: ips(3, 3) }), { p4: ips(3) });
  assert.deepEqual(kept({ p5: ["10.5.0.0/24"], p6: ips(1) }), { p5: ["10.5.0.0/24"], p6: ips(1) });
});

test("kilo.md §5.5: TestFilterAllowedIPs", () => {
  const ip = (byte: number) => `192.168.178.${byte}/32`;
  const filter = (...lists: string[][]) => {
    const segments: LocationIPsOf[] = lists.map((list, i) => ({
      name: `s${i}`,
      ownPrefixes: [prefix(`10.2.${i}.0/24`), hostPrefix(address(`192.168.0.${i + 1}`))],
      wanted: list.map(prefix),
    }));
    return filterLocationIPs(segments, prefix("10.4.0.0/16"), []).kept.map(texts);
  };
  assert.deepEqual(filter([ip(4)], [ip(5)], [ip(6), ip(7)]), [[ip(4)], [ip(5)], [ip(6), ip(7)]]);
  assert.deepEqual(filter([ip(4), ip(8)], [ip(5)], [ip(6), ip(7), ip(4)]), [
    [ip(8)],
    [ip(5)],
    [ip(6), ip(7), ip(4)],
  ]);
  assert.deepEqual(filter(["10.4.0.1/32", ip(8)], [ip(5)], [ip(6)]), [[ip(8)], [ip(5)], [ip(6)]]);
  assert.deepEqual(filter([ip(8)], [ip(5)], ["192.168.178.0/24"]), [[], [], ["192.168.178.0/24"]]);
});

test("kilo.md §5.5: a superset of internal IPs stays, one that begins at one does not, Peers and pods win", () => {
  const filter = (entry: string, peers: string[] = []) => {
    const segments = [
      { name: "s", ownPrefixes: [prefix("10.2.0.0/24"), prefix("192.168.0.1/32")], wanted: [prefix(entry)] },
    ];
    const taken = peers.map((text) => ({ peer: "p", prefix: prefix(text) }));
    return filterLocationIPs(segments, prefix("10.4.0.0/16"), taken).dropped.map(({ other }) => other);
  };
  assert.deepEqual(filter("192.168.0.0/24"), []);
  assert.deepEqual(filter("192.168.0.1/32"), ["192.168.0.1/32 of s"]);
  assert.deepEqual(filter("10.2.0.128/25"), ["10.2.0.0/24 of s"]);
  assert.deepEqual(filter("10.2.0.0/16"), ["10.2.0.0/24 of s"]);
  assert.deepEqual(filter("10.4.0.1/32"), ["the tunnel address of s"]);
  assert.deepEqual(filter("10.4.0.2/32"), []);
  assert.deepEqual(filter("10.9.0.0/24", ["10.9.0.7/32"]), ["10.9.0.7/32 of Peer p"]);
});

test("kilo.md §5.8: a discovered endpoint replaces the announced one where keepalive says that it may change", () => {
  const discovered = JSON.stringify({
    [K3]: { IP: "198.18.0.9", Port: 4009, Zone: "" },
    [K2]: { IP: "198.18.0.2", Port: 1, Zone: "" },
  });
  const nodes = f3({ b1: { keepalive: 10, annotations: { "discovered-endpoints": discovered } } });
  const endpoints = (own = {}) =>
    topologyOf({ nodes, hostname: "a1", ...own }).segments.map(
      ({ endpoint }) => endpoint && formatEndpoint(endpoint),
    );
  assert.deepEqual(endpoints(), ["198.51.100.1:51820", "198.18.0.9:4009"]);
  assert.deepEqual(
    endpoints({ learned: [learned(K3, "192.0.2.3:7", 5)] }),
    ["198.51.100.1:51820", "192.0.2.3:7"],
    "own first",
  );
  assert.deepEqual(
    endpoints({ learned: [learned(K3, "192.0.2.3:7", 600)] }),
    ["198.51.100.1:51820", "198.18.0.9:4009"],
    "others' news before own memories",
  );
});

test("kilo.md §5.8: without keepalive the announced endpoint stays, whatever was heard", () => {
  const topology = topologyOf({ nodes: f3(), hostname: "a1", learned: [learned(K3, "192.0.2.3:7", 5)] });
  assert.equal(topology.segments[1]?.endpoint?.address.text, "203.0.113.1");
});

test("kilo.md §5.8: of published endpoints the first in order of segments and names wins", () => {
  const says = (ip: string) => ({
    "discovered-endpoints": JSON.stringify({ [K3]: { IP: ip, Port: 1, Zone: "" } }),
  });
  const nodes = f3({
    a1: { annotations: says("192.0.2.1") },
    a2: { annotations: says("192.0.2.2") },
    b1: { keepalive: 5 },
  });
  const topology = topologyOf({ nodes: [...nodes].reverse(), hostname: "b1" });
  assert.equal(topology.segments[1]?.endpoint?.address.text, "192.0.2.1");
});

test("K-08: a new leader starts with the endpoint that it heard once", () => {
  const topology = topologyOf({
    nodes: f3(),
    peers: [p1({ persistentKeepalive: 10 })],
    hostname: "a1",
    learned: [learned(key(80), "198.18.0.7:4007", 900)],
  });
  assert.equal(topology.peers[0]?.endpoint?.address.text, "198.18.0.7");
});

test("K-14: an agent's DNS does not choose the leader, once all agents are ours", () => {
  const nodes = (kilo: boolean) =>
    f3({
      a1: { endpoint: "10.0.1.1:51820", kilo },
      a2: { annotations: { "force-endpoint": "pub.example:51820" } },
    });
  const leader = (kilo: boolean, answer?: string) => {
    const resolve = () => (answer === undefined ? undefined : [address(answer)]);
    return topologyOf({ nodes: nodes(kilo), hostname: "b1", resolve }).segments[0]?.leader.name;
  };
  assert.deepEqual(
    [leader(false), leader(false, "198.51.100.2"), leader(false, "10.0.0.2")],
    ["a2", "a2", "a2"],
  );
  assert.deepEqual(
    [leader(true), leader(true, "198.51.100.2"), leader(true, "10.0.0.2")],
    ["a1", "a2", "a1"],
  );
});

test("segments sort by bytes, as Kilo's do", () => {
  const names = ["location:\u{1f600}", "location:\uffee", "node:a", "location:é", "location:z", "location:"];
  assert.deepEqual(names.sort(compareBytes), [
    "location:",
    "location:z",
    "location:é",
    "location:\uffee",
    "location:\u{1f600}",
    "node:a",
  ]);
});

function tunnels(nodes: readonly NodeObject[], hostname: string): string {
  const topology = topologyOf({ nodes, hostname, options: { granularity: "cross" } });
  return tunnelledSegments(topology)
    .map(({ leader }) => leader.name)
    .join(",");
}

test("kilo.md §5.11: cross as the fork has it", () => {
  const { nodes } = kiloFixture();
  assert.deepEqual(
    fixture("a", "cross").segments.map(({ leader, tunnelAddress }) => [leader.name, tunnelAddress.text]),
    [
      ["a", "10.4.0.1"],
      ["b", "10.4.0.2"],
      ["c", "10.4.0.3"],
      ["d", "10.4.0.4"],
    ],
  );
  assert.deepEqual(
    ["a", "b", "c", "d"].map((host) => tunnels(nodes, host)),
    ["b,c", "a,d", "a,d", "b,c"],
  );
});

test("cross beyond: everybody tunnels to a node without internal IP", () => {
  const { nodes } = kiloFixture("ours");
  assert.deepEqual(
    ["a", "b", "c", "d"].map((host) => tunnels(nodes, host)),
    ["b,c,d", "a,d", "a,d", "a,b,c"],
  );
});

test("K-52: F3 in cross: a1 and a2 have one tunnel each, to b1, and b1 has two", () => {
  assert.deepEqual(
    ["a1", "a2", "b1"].map((host) => tunnels(f3(), host)),
    ["b1", "b1", "a1,a2"],
  );
});

test("K-52: while nodes go over from full to cross, those that still announce full keep their tunnels", () => {
  const announces = (granularity: string) => ({ annotations: { granularity } });
  const nodes = f3({ a1: announces("cross"), a2: announces("full"), b1: announces("cross") });
  assert.deepEqual(
    ["a1", "a2", "b1"].map((host) => tunnels(nodes, host)),
    ["a2,b1", "a1,b1", "a1,a2"],
  );
  const kilo = f3({
    a1: { ...announces("cross"), kilo: true },
    a2: announces("full"),
    b1: announces("cross"),
  });
  assert.equal(tunnels(kilo, "a1"), "b1", "Kilo's fork does not look at announcements");
});

test("keys stand for themselves in this fixture", () => {
  assert.deepEqual(
    topologyOf({ nodes: f3(), hostname: "a1" }).segments.map(({ leader }) => leader.publicKey),
    [K1, K3],
  );
});
