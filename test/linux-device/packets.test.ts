/** What the rules of kg's table do to real packets: a host that forwards between a pod, its location, another location and the outside. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { firewallWith } from "../../src/linux/firewall/compliance.test-kit.ts";
import { createFirewallDriver } from "../../src/linux/firewall/driver.ts";
import { LinkRoles } from "../../src/linux/link-names.ts";
import type { Firewall, LinkRole } from "../../src/mesh/index.ts";
import { assertSandbox, run, runAll } from "./sandbox.ts";

const signal = new AbortController().signal;
/** Answers every connection with the address it came from. */
const ECHO = `for (const family of ["0.0.0.0", "::"]) require("node:net").createServer((s) => { s.on("error", () => {}); s.end(s.remoteAddress); }).on("error", () => {}).listen({ port: 9000, host: family, ipv6Only: family === "::" })`;
const servers: ChildProcess[] = [];
const links = new LinkRoles({ mesh: "t-remote", private: "t-loc" });
const driver = createFirewallDriver({ links });

/** This host is a1: a leader of location A with pods 10.2.1.0/24; 10.0.1.0/24 is the location's network, allowed to others. */
const SETS: Partial<Record<keyof Firewall["sets"], readonly string[]>> = {
  masquerade_from: ["10.2.1.0/24"],
  keep_source: ["10.2.1.0/24", "10.2.9.0/24", "10.4.0.0/24", "10.0.1.1/32", "10.0.1.2/32", "10.1.0.9/32"],
  location_ips: ["10.0.1.0/24"],
  location_nodes: ["10.0.1.1/32", "10.0.1.2/32"],
  remote_internal: ["10.1.0.9/32"],
};

describe("packets through the rules", () => {
  before(async () => {
    assertSandbox();
    for (const file of ["ipv4/ip_forward", "ipv6/conf/all/forwarding"])
      writeFileSync(`/proc/sys/net/${file}`, "1");
    runAll("ip link set lo up");
    // name of the namespace, the host's address on the link to it, its own addresses
    attach("pod", "10.2.1.1", ["10.2.1.2/24"]);
    attach("loc", "10.0.1.1", ["10.0.1.2/24", "10.0.1.100/32"]);
    attach("remote", "10.4.0.1", ["10.4.0.2/24", "10.2.9.2/32", "10.1.0.9/32"]);
    attach("out", "203.0.113.1", ["203.0.113.2/24", "198.51.100.7/32"]);
    runAll(`
    ip route add 10.0.1.100/32 via 10.0.1.2
    ip route add 10.2.9.0/24 via 10.4.0.2
    ip route add 10.1.0.9/32 via 10.4.0.2
    ip route add 198.51.100.7/32 via 203.0.113.2
    ip addr add fd00:2::1/64 dev t-pod nodad
    ip -n pod addr add fd00:2::2/64 dev t-host nodad
    ip -n pod route add default via fd00:2::1
    ip addr add 2001:db8::1/64 dev t-out nodad
    ip -n out addr add 2001:db8::2/64 dev t-host nodad
    ip -n out route add fd00:2::/64 via 2001:db8::1`);
    for (const name of ["loc", "remote", "out", "pod"]) {
      servers.push(spawn("ip", ["netns", "exec", name, process.execPath, "-e", ECHO], { stdio: "ignore" }));
    }
    await untilAnswers("203.0.113.2");
    await apply({});
  });

  after(() => {
    driver.close();
    for (const server of servers) server.kill("SIGKILL");
  });

  test("pod to the outside: masqueraded", async () => {
    assert.equal(seenFrom("pod", "203.0.113.2"), "203.0.113.1");
  });

  test("pod to a pod of another location: the source is kept", async () => {
    assert.equal(seenFrom("pod", "10.2.9.2"), "10.2.1.2");
  });

  test("a destination becomes known: from then on the source is kept, by one element", async () => {
    assert.equal(seenFrom("pod", "198.51.100.7"), "203.0.113.1");
    const known = firewallWith({ keep_source: ["198.51.100.7/32"] }).sets.keep_source;
    await driver.apply({ kind: "elements", sets: [{ set: "keep_source", add: known, remove: [] }] }, signal);
    assert.equal(seenFrom("pod", "198.51.100.7"), "10.2.1.2");
    await driver.apply({ kind: "elements", sets: [{ set: "keep_source", add: [], remove: known }] }, signal);
    assert.equal(seenFrom("pod", "198.51.100.7"), "203.0.113.1");
  });

  test("a pod of another location to an allowed location IP: masqueraded here, once (K-42)", async () => {
    assert.equal(seenFrom("remote", "10.0.1.100", "10.2.9.2"), "10.0.1.1");
  });

  test("where the location IP is another location's, the source is kept on the way (K-42)", async () => {
    await apply({ location_ips: [], keep_source: [...(SETS.keep_source ?? []), "198.51.100.7/32"] });
    assert.equal(seenFrom("pod", "198.51.100.7"), "10.2.1.2");
    await apply({});
  });

  test("own pods to a location IP are masqueraded: the location has no way back to them (K-46)", async () => {
    assert.equal(seenFrom("pod", "10.0.1.100"), "10.0.1.1");
  });

  test("a node of the location to a floating address in it: never masqueraded (K-46)", async () => {
    assert.equal(seenFrom("host", "10.0.1.100"), "10.0.1.1");
    // Another node of the location whose packets this host forwards.
    runAll(`
    ip -n out addr add 10.0.1.3/32 dev t-host
    ip route add 10.0.1.3/32 via 203.0.113.2
    ip -n loc route add 10.0.1.3/32 via 10.0.1.1`);
    await apply({ location_nodes: ["10.0.1.1/32", "10.0.1.2/32", "10.0.1.3/32"] });
    assert.equal(seenFrom("out", "10.0.1.100", "10.0.1.3"), "10.0.1.3");
    await apply({});
  });

  test("the floating address is on this host: what it sends from it is not masqueraded either (K-46)", async () => {
    run("ip addr add 10.0.1.101/32 dev t-loc");
    run("ip -n loc route add 10.0.1.101/32 via 10.0.1.1");
    assert.equal(seenFrom("host", "10.0.1.100", "10.0.1.101"), "10.0.1.101");
  });

  test("guard: forwarded packets to other locations' internal IPs leave by the planned link or not at all", async () => {
    assert.equal(seenFrom("pod", "10.1.0.9"), "10.2.1.2");
    assert.equal(dropped(), 0);
    // The mesh link is gone, and the packet falls to the way into the open.
    run("ip route replace 10.1.0.9/32 via 203.0.113.2");
    run("ip -n out addr add 10.1.0.9/32 dev t-host");
    assert.equal(seenFrom("pod", "10.1.0.9"), undefined);
    assert.ok(dropped() > 0);
    assert.equal(seenFrom("host", "10.1.0.9"), "203.0.113.1", "the host itself still reaches it");
  });

  test("guard: no link has the role: nothing is forwarded there", async () => {
    await apply({}, "tunnel");
    assert.equal(seenFrom("pod", "10.1.0.9"), undefined);
    assert.equal(seenFrom("host", "10.1.0.9"), "203.0.113.1");
  });

  test("guard: a host that takes no part in the mesh has none", async () => {
    await apply({}, "none");
    assert.equal(seenFrom("pod", "10.1.0.9"), "10.2.1.2");
    await apply({});
  });

  test("IPv6 is left alone while no IPv6 prefix is in the mesh (K-93), and masqueraded like IPv4 when one is", async () => {
    assert.equal(seenFrom("pod", "2001:db8::2"), "fd00:2::2");
    await apply({
      masquerade_from: ["10.2.1.0/24", "fd00:2::/64"],
      keep_source: [...(SETS.keep_source ?? []), "fd00:2::/64"],
    });
    assert.equal(seenFrom("pod", "2001:db8::2"), "2001:db8::1");
    assert.equal(seenFrom("pod", "203.0.113.2"), "203.0.113.1");
  });
});

/** A namespace behind a veth t-NAME; it sends everything to the host. */
function attach(name: string, host: string, addresses: readonly string[]): void {
  runAll(`
    ip netns add ${name}
    ip link add t-${name} type veth peer name t-host netns ${name}
    ip addr add ${host}/24 dev t-${name}
    ip link set t-${name} up
    ip -n ${name} link set lo up
    ${addresses.map((address) => `ip -n ${name} addr add ${address} dev t-host`).join("\n")}
    ip -n ${name} link set t-host up
    ip -n ${name} route add default via ${host}`);
}

/** Writes the table with these sets instead of the usual ones. */
async function apply(sets: typeof SETS, guard: LinkRole | "none" = "mesh"): Promise<void> {
  const role = guard === "none" ? undefined : guard;
  await driver.apply({ kind: "replace", firewall: firewallWith({ ...SETS, ...sets }, role) }, signal);
}

/** The source address that a server sees when `from` connects to it; undefined when there is no way. */
function seenFrom(from: string, to: string, source?: string): string | undefined {
  const script = `const s = require("node:net").connect({ host: "${to}", port: 9000${source === undefined ? "" : `, localAddress: "${source}"`} });
    s.on("data", (d) => { process.stdout.write(d); process.exit(); }).on("error", () => process.exit(1)); setTimeout(() => process.exit(1), 700);`;
  const words = from === "host" ? [process.execPath] : ["ip", "netns", "exec", from, process.execPath];
  const [program = "", ...before] = words;
  try {
    return execFileSync(program, [...before, "-e", script], { encoding: "utf8" });
  } catch {
    return undefined;
  }
}

/** Packets that the guard has dropped. */
function dropped(): number {
  return Number(/counter packets (\d+)/.exec(run("nft list chain inet kilomesh forward"))?.[1]);
}

async function untilAnswers(address: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    if (seenFrom("host", address) !== undefined) return;
    await sleep(50);
  }
  assert.fail("the servers do not answer");
}
