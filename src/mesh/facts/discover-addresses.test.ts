/** Address discovery, report by report. */
import assert from "node:assert/strict";
import test from "node:test";
import { type InterfaceAddress, isPublic, parseInterfaceAddress } from "../../ip/index.ts";
import { address, prefix } from "../fixtures.test-kit.ts";
import {
  type DiscoveryFacts,
  type DiscoveryLink,
  type DiscoveryOptions,
  discoverAddresses,
} from "./discover-addresses.ts";

function link(name: string, addresses: readonly string[], rest: Partial<DiscoveryLink> = {}): DiscoveryLink {
  const parsed = addresses
    .map((text) => parseInterfaceAddress(text))
    .filter((on): on is InterfaceAddress => on !== undefined);
  return { name, up: true, loopback: name === "lo", addresses: parsed, ...rest };
}

function discover(
  links: readonly DiscoveryLink[],
  facts: Partial<DiscoveryFacts> = {},
  options: DiscoveryOptions = {},
) {
  const found = discoverAddresses({ links, defaultRoute: { link: "eth0" }, ...facts }, options);
  return [found.internalIP?.text, found.external?.text, found.privateLink];
}

const LO = link("lo", ["127.0.0.1/8", "::1/128"]);

test("K-24: a hostname that resolves to 127.0.0.1 does not matter", () => {
  const found = discover([LO, link("eth0", ["172.21.0.5/20"])], {
    hostnameAddresses: [address("127.0.0.1")],
  });
  assert.deepEqual(found, ["172.21.0.5/20", "172.21.0.5", "eth0"]);
});

test("K-25: endpoint and internal IP on a cloud host whose name resolves to 127.0.1.1 too", () => {
  const links = [LO, link("eth0", ["95.216.0.10/32"]), link("ens10", ["10.0.0.3/32"])];
  const hostnameAddresses = [address("127.0.1.1"), address("95.216.0.10")];
  assert.deepEqual(discover(links, { hostnameAddresses }), ["10.0.0.3/32", "95.216.0.10", "ens10"]);
});

test("K-26: the Node's InternalIP wins over the default route's link, the announced one over both", () => {
  const links = [LO, link("eth0", ["203.0.113.5/20", "10.19.0.23/16"]), link("eth1", ["10.134.0.4/20"])];
  assert.equal(discover(links)[0], "10.19.0.23/16");
  const nodeInternalIPs = [address("10.134.0.4")];
  assert.deepEqual(discover(links, { nodeInternalIPs }), ["10.134.0.4/20", "203.0.113.5", "eth1"]);
  const announced = { internalIP: address("10.19.0.23") };
  assert.equal(discover(links, { nodeInternalIPs, announced })[0], "10.19.0.23/16");
});

test("an announced address that left the host is not kept (B16)", () => {
  const announced = { internalIP: address("10.9.9.9"), endpoint: address("192.0.2.1") };
  const links = [LO, link("eth0", ["203.0.113.5/20", "10.19.0.23/16"])];
  assert.deepEqual(discover(links, { announced }), ["10.19.0.23/16", "203.0.113.5", "eth0"]);
});

test("K-27: a foreign WireGuard link, a dummy or a bridge never counts", () => {
  const links = [
    LO,
    link("eth0", ["203.0.113.5/20"]),
    link("vpn", ["10.9.0.1/24"], { kind: "wireguard" }),
    link("blackhole", ["10.9.1.1/24"], { kind: "dummy" }),
    link("mynet", ["10.9.2.1/24"], { kind: "bridge" }),
  ];
  assert.deepEqual(discover(links), [undefined, "203.0.113.5", undefined]);
});

test("K-28: docker0 and links that are down are passed over", () => {
  const links = [
    LO,
    link("docker0", ["172.17.0.1/16"]),
    link("eth2", ["10.1.1.1/24"], { up: false }),
    link("eth0", ["10.17.100.16/24"]),
  ];
  assert.deepEqual(discover(links, { announced: { internalIP: address("172.17.0.1") } }), [
    "10.17.100.16/24",
    "10.17.100.16",
    "eth0",
  ]);
});

test("a bridge that carries the default route is the host's own", () => {
  const links = [LO, link("vmbr0", ["10.17.100.16/24"], { kind: "bridge" })];
  assert.equal(discover(links, { defaultRoute: { link: "vmbr0" } })[0], "10.17.100.16/24");
});

test("K-31: what is public", () => {
  const judged = ["172.15.255.1", "172.16.0.1", "172.31.255.1", "172.32.0.1", "100.64.0.1", "198.18.0.1"].map(
    (ip) => isPublic(address(ip)),
  );
  assert.deepEqual(judged, [true, false, false, true, false, false]);
  const links = [LO, link("eth0", ["100.64.3.4/10"])];
  assert.deepEqual(discover(links), ["100.64.3.4/10", "100.64.3.4", "eth0"]);
});

test("K-32: --prioritise-private-addresses announces the internal IP as endpoint", () => {
  const links = [LO, link("eth0", ["198.51.100.1/24", "10.0.1.1/24"])];
  assert.equal(discover(links, {}, { prioritisePrivateAddresses: true })[1], "10.0.1.1");
  assert.equal(discover(links)[1], "198.51.100.1");
});

test("--internal-cidr bounds private candidates only", () => {
  const links = [LO, link("eth0", ["203.0.113.5/20", "10.19.0.23/16"]), link("eth1", ["10.134.0.4/20"])];
  const found = discover(links, {}, { internalCIDRs: [prefix("10.134.0.0/16"), prefix("203.0.113.0/24")] });
  assert.deepEqual(found, ["10.134.0.4/20", "203.0.113.5", "eth1"]);
});

test("the choice does not hang on the order of links and addresses", () => {
  const links = [
    LO,
    link("eth0", ["10.0.0.10/24", "10.0.0.2/24", "fd00::1/64"]),
    link("eth1", ["10.0.1.1/24"]),
  ];
  const other = [
    link("eth1", ["10.0.1.1/24"]),
    link("eth0", ["fd00::1/64", "10.0.0.2/24", "10.0.0.10/24"]),
    LO,
  ];
  assert.deepEqual(discover(links), ["10.0.0.2/24", "10.0.0.2", "eth0"]);
  assert.deepEqual(discover(other), discover(links));
});

test("a host without any usable address has none", () => {
  assert.deepEqual(discover([LO], { defaultRoute: undefined }), [undefined, undefined, undefined]);
});
