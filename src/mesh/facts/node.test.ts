/** Translation of nodes: kilo.md §2.2 row by row, and where the reports want something else. */
import assert from "node:assert/strict";
import test from "node:test";
import { formatEndpoint } from "../../wireguard/index.ts";
import { K1, node, prefix } from "../fixtures.test-kit.ts";
import type { NodeObject } from "../objects.ts";
import type { Mode } from "./mode.ts";
import { nodeFacts } from "./node.ts";

const LABEL = "topology.kubernetes.io/region";

function read(object: NodeObject, mode: Mode = "kilo") {
  const { facts, problems } = nodeFacts(object, { mode, topologyLabel: LABEL });
  return {
    ...facts,
    endpoint: facts.endpoints.map(formatEndpoint)[0],
    internalIP: facts.internalIPs[0]?.text,
    reasons: problems.map(({ reason }) => reason),
  };
}

function annotated(annotations: Record<string, string>): NodeObject {
  const entries = Object.entries(annotations).map(
    ([name, value]) => [`kilo.squat.ai/${name}`, value] as const,
  );
  return { metadata: { name: "n", annotations: Object.fromEntries(entries) } };
}

const ROWS: readonly (readonly [string, Record<string, string>, string | undefined, string | undefined])[] = [
  ["neither can be read", { endpoint: "10.0.0.1", "internal-ip": "foo" }, undefined, undefined],
  ["both", { endpoint: "10.0.0.1:51820", "internal-ip": "10.0.0.2/32" }, "10.0.0.1:51820", "10.0.0.2/32"],
  ["IPv6", { endpoint: "[ff10::10]:51820", "internal-ip": "ff60::10/64" }, "[ff10::10]:51820", "ff60::10/64"],
  [
    "a force-endpoint that cannot be read",
    { endpoint: "10.0.0.1:51820", "force-endpoint": "-10.0.0.2:51821" },
    "10.0.0.1:51820",
    undefined,
  ],
  [
    "a force-endpoint",
    { endpoint: "10.0.0.1:51820", "force-endpoint": "10.0.0.2:51821" },
    "10.0.0.2:51821",
    undefined,
  ],
  [
    "a force-internal-ip that cannot be read",
    { "internal-ip": "10.1.0.1/24", "force-internal-ip": "-10.1.0.2/24" },
    undefined,
    "10.1.0.1/24",
  ],
  [
    "a force-internal-ip",
    { "internal-ip": "10.1.0.1/24", "force-internal-ip": "10.1.0.2/24" },
    undefined,
    "10.1.0.2/24",
  ],
  [
    "an empty force-internal-ip",
    { "internal-ip": "10.1.0.1/32", "force-internal-ip": "" },
    undefined,
    undefined,
  ],
  [
    "a force-internal-ip of -",
    { "internal-ip": "10.1.0.1/32", "force-internal-ip": "-" },
    undefined,
    undefined,
  ],
  [
    "a name",
    { endpoint: "10.0.0.1:51820", "force-endpoint": "example.com:1337" },
    "example.com:1337",
    undefined,
  ],
];

for (const [title, annotations, endpoint, internalIP] of ROWS) {
  test(`kilo.md §2.2: ${title}`, () => {
    const facts = read(annotated(annotations));
    assert.deepEqual([facts.endpoint, facts.internalIP], [endpoint, internalIP]);
  });
}

test("kilo.md §2.2: pod CIDR, location, keepalive, last-seen, leader", () => {
  const pods = (podCIDR: string) => read({ metadata: { name: "n" }, spec: { podCIDR } }).podCIDRs;
  assert.deepEqual(pods("foo"), []);
  assert.deepEqual(pods("10.2.0.1/24"), [prefix("10.2.0.0/24")]);
  const labelled = node({ name: "n", labels: { [LABEL]: "a" } });
  assert.equal(read(labelled).location, "a");
  assert.equal(read(node({ name: "n", labels: { [LABEL]: "a" }, location: "b" })).location, "b");
  assert.equal(read(node({ name: "n", labels: { [LABEL]: "a" }, location: "" })).location, "");
  assert.equal(read(annotated({ "persistent-keepalive": "25" })).persistentKeepalive, 25);
  assert.equal(read(annotated({ "last-seen": "foo" })).lastSeen, 0);
  assert.equal(read(annotated({ leader: "" })).leader, true);
});

test("S-07: a node without any annotation is read", () => {
  const facts = read({ metadata: { name: "n" } }, "kilomesh");
  assert.deepEqual([facts.location, facts.endpoint, facts.publicKey], ["", undefined, undefined]);
  assert.deepEqual(facts.reasons, []);
});

test("K-24: an announced loopback, link-local, multicast or unspecified address is ignored, with a problem", () => {
  for (const ip of ["127.0.0.1", "169.254.1.1", "224.0.0.1", "0.0.0.0"]) {
    const object = annotated({ endpoint: `${ip}:51820`, "internal-ip": `${ip}/32` });
    const facts = read(object, "kilomesh");
    assert.deepEqual([facts.endpoint, facts.internalIP], [undefined, undefined], ip);
    assert.deepEqual(facts.reasons, ["address-ignored", "address-ignored"]);
  }
});

test("K-24 in a mixed mesh: the fact stays, because Kilo's agents number with it; the problem is told", () => {
  const facts = read(annotated({ "internal-ip": "127.0.0.1/32" }), "kilo");
  assert.equal(facts.internalIP, "127.0.0.1/32");
  assert.deepEqual(facts.reasons, ["address-ignored"]);
});

test("K-30: a force-internal-ip without mask is a /32", () => {
  const object = annotated({ "internal-ip": "10.0.0.9/24", "force-internal-ip": "10.0.0.5" });
  assert.equal(read(object, "kilomesh").internalIP, "10.0.0.5/32");
  assert.equal(read(object, "kilo").internalIP, "10.0.0.9/24");
  assert.deepEqual(read(object, "kilo").reasons, ["annotation-invalid"]);
});

test("K-07: a node can say that it has no endpoint, once all agents are ours", () => {
  for (const text of ["-", ""]) {
    const object = annotated({ endpoint: "10.0.0.1:51820", "force-endpoint": text });
    const ours = read(object, "kilomesh");
    assert.deepEqual([ours.endpoint, ours.endpointRefused], [undefined, true]);
    const mixed = read(object, "kilo");
    assert.deepEqual([mixed.endpoint, mixed.endpointRefused], ["10.0.0.1:51820", false]);
  }
});

test("K-16: a line end after the key makes no other key", () => {
  assert.equal(read(annotated({ key: `${K1}\n` })).publicKey, K1);
});

test("S-16: a key that cannot be read is named", () => {
  assert.deepEqual(read(annotated({ key: "foo" })).reasons, ["annotation-invalid"]);
});

test("S-03: blanks after the commas of allowed-location-ips lose nothing, and bad entries are named", () => {
  const facts = read(annotated({ "allowed-location-ips": "10.1.0.0/16, 10.2.0.0/16,foo," }));
  assert.deepEqual(
    facts.allowedLocationIPs.map(({ text }) => text),
    ["10.1.0.0/16", "10.2.0.0/16"],
  );
  assert.deepEqual(facts.reasons, ["annotation-invalid"]);
});

test("S-04: leader false is no leader; in a mixed mesh its presence counts, with a warning", () => {
  for (const text of ["false", "0", "no", "FALSE"]) {
    assert.equal(read(annotated({ leader: text }), "kilomesh").leader, false, text);
    const mixed = read(annotated({ leader: text }), "kilo");
    assert.equal(mixed.leader, true, text);
    assert.deepEqual(mixed.reasons, ["leader-false-counts"]);
  }
  assert.equal(read(annotated({ leader: "true" }), "kilomesh").leader, true);
  assert.equal(read(annotated({}), "kilomesh").leader, false);
});

test("a keepalive that WireGuard cannot hold is off, and named", () => {
  for (const text of ["65536", "-1", "25s"]) {
    const facts = read(annotated({ "persistent-keepalive": text }));
    assert.equal(facts.persistentKeepalive, 0);
    assert.deepEqual(facts.reasons, ["annotation-invalid"]);
  }
});

test("B57: both pod CIDRs once all agents are ours, the first in a mixed mesh", () => {
  const object: NodeObject = {
    metadata: { name: "n" },
    spec: { podCIDR: "10.2.1.0/24", podCIDRs: ["10.2.1.0/24", "fd00:1::/64"] },
  };
  assert.deepEqual(
    read(object, "kilomesh").podCIDRs.map(({ text }) => text),
    ["10.2.1.0/24", "fd00:1::/64"],
  );
  assert.deepEqual(
    read(object, "kilo").podCIDRs.map(({ text }) => text),
    ["10.2.1.0/24"],
  );
});
