/** Events of the kernel's under stress: the trap after ENOBUFS, and how many routes a batch takes. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, it } from "node:test";

import { MAKE_LINK, manyRoutes, NO_CHANGES, texts } from "../../src/linux/host-plan.test-kit.ts";
import { createHost, createMemoryFirewall, type HostDriver, LinkRoles } from "../../src/linux/index.ts";
import { NETLINK_ROUTE, subscribe } from "../../src/linux/netlink/index.ts";
import { RTM_DELROUTE, RTM_NEWROUTE, RTNLGRP_IPV4_ROUTE } from "../../src/linux/netlink/rtnetlink.ts";
import { fakeDevice } from "./fake-device.ts";
import {
  emptyNamespace,
  ipBatch,
  listenTo,
  makeUplink,
  requireFreshNamespace,
  settle,
  until,
} from "./namespace.ts";

const FLOOD = 10_000;
const signal = new AbortController().signal;
requireFreshNamespace();

describe("events of the kernel", () => {
  let host: HostDriver;

  beforeEach(async () => {
    makeUplink();
    host = createHost({
      links: new LinkRoles({ mesh: "kilo0", private: "eth0" }),
      device: fakeDevice("kilo0"),
      firewall: createMemoryFirewall(),
    });
    await host.apply({ ...NO_CHANGES, mesh: MAKE_LINK }, signal);
  });

  afterEach(() => {
    host.close();
    emptyNamespace();
  });

  it("ENOBUFS: a subscription that overflowed while the event loop was blocked says so, and hears all that comes later", async () => {
    let added = 0;
    let deleted = 0;
    let overruns = 0;
    const stop = subscribe({
      protocol: NETLINK_ROUTE,
      groups: [RTNLGRP_IPV4_ROUTE],
      receiveBuffer: 64 << 10,
      onMessage: (message) => {
        if (message.type === RTM_NEWROUTE) added++;
        if (message.type === RTM_DELROUTE) deleted++;
      },
      onOverrun: () => {
        overruns++;
      },
    });

    // The loop is blocked while `ip` runs: nothing is read meanwhile.
    ipBatch(flood("add", FLOOD));
    await until("an overrun", () => overruns > 0);
    assert.ok(added < FLOOD, `nothing was lost: ${added} of ${FLOOD}`);

    // In portions that fit the small buffer.
    for (let at = 0; at < 500; at += 20) {
      ipBatch(flood("del", FLOOD).slice(at, at + 20));
      await settleBriefly();
    }
    await until("500 later events", () => deleted === 500);
    assert.equal(overruns, 1);
    stop();
  });

  it("ENOBUFS: the host driver tells the overrun, and drift that comes later", async () => {
    await host.apply({ ...NO_CHANGES, setRoutes: manyRoutes(3) }, signal);
    await host.read();
    const kinds = listenTo(host);
    let forwarding = 0;
    const stop = host.watchForwarding(() => {
      forwarding++;
    });
    ipBatch([...flood("add", FLOOD), ...flood("del", FLOOD), ...flood("add", FLOOD), ...flood("del", FLOOD)]);
    await until("an overrun", () => kinds.includes("overrun"));
    assert.ok(forwarding > 0, "the forwarding switch may have changed unheard");
    stop();

    await settle();
    kinds.length = 0;
    ipBatch(["route del 10.128.1.0/24 dev kilo0 proto 171"]);
    await until("the removal of an own route", () => kinds.includes("routes"));
    assert.deepEqual(kinds, ["routes"]);
  });

  it("a thousand routes: all set, read back and removed, none twice", async () => {
    const routes = manyRoutes(1000);
    const before = host.mutations;
    assert.deepEqual(await host.apply({ ...NO_CHANGES, setRoutes: routes }, signal), []);
    assert.equal(host.mutations - before, 1000);
    assert.deepEqual(texts((await host.read()).routes), texts(routes));

    assert.deepEqual(await host.apply({ ...NO_CHANGES, removeRoutes: routes }, signal), []);
    assert.deepEqual((await host.read()).routes, []);
  });

  it("R-26: a mesh link that was removed and made anew behind our back is told, and gets its routes again", async () => {
    const routes = manyRoutes(3);
    await host.apply({ ...NO_CHANGES, setRoutes: routes }, signal);
    await host.read();
    const kinds = listenTo(host);
    ipBatch(["link del kilo0"]);
    await until("the removal of the link", () => kinds.includes("links"));
    const state = await host.read();
    assert.deepEqual([state.mesh, state.routes], [undefined, []]);
    assert.deepEqual(await host.apply({ ...NO_CHANGES, mesh: MAKE_LINK, setRoutes: routes }, signal), []);
    assert.deepEqual(texts((await host.read()).routes), texts(routes));
  });

  it("a foreign route that came over an own one is told: the kernel does not announce what it replaced", async () => {
    await host.apply({ ...NO_CHANGES, setRoutes: manyRoutes(3) }, signal);
    await host.read();
    const kinds = listenTo(host);
    ipBatch(["route replace 10.128.1.0/24 dev eth0 proto static"]);
    await settle();
    assert.deepEqual(kinds, ["routes"]);
  });

  it("changes that address discovery must know of are told once", async () => {
    const kinds = listenTo(host);
    ipBatch(["addr add 10.0.0.77/24 dev eth0", "addr add fd00::77/64 dev eth0 nodad"]);
    await settle();
    assert.deepEqual(kinds.splice(0), ["links", "links"]);
    ipBatch(["addr change fd00::77/64 dev eth0 valid_lft 3000 preferred_lft 3000"]);
    await settle();
    assert.deepEqual(kinds.splice(0), []);
    ipBatch(["route replace default via 10.0.0.253 dev eth0"]);
    await settle();
    assert.deepEqual(kinds.splice(0), ["routes"]);
    ipBatch(["link set eth0 mtu 1400"]);
    await settle();
    assert.deepEqual(kinds.splice(0), ["links"]);
  });

  it("forwarding is switched off: told to who watches it, and read only then", async () => {
    let told = 0;
    const end = host.watchForwarding(() => told++);
    const set = (value: string) => writeFileSync("/proc/sys/net/ipv4/ip_forward", value);
    set("1");
    await settle();
    assert.equal(await host.forwardsPackets(), true);
    told = 0;
    set("0");
    await settle();
    assert.equal(told, 1);
    assert.equal(await host.forwardsPackets(), false);
    writeFileSync("/proc/sys/net/ipv4/conf/eth0/forwarding", "1");
    await settle();
    assert.equal(told, 1, "one link is not the host");
    end();
    set("1");
    await settle();
    assert.equal(told, 1);
  });

  it("no event of a foreign flood wakes anybody", async () => {
    const kinds = listenTo(host);
    ipBatch(flood("add", 500));
    await settle();
    assert.deepEqual(kinds, []);
  });
});

function flood(verb: "add" | "del", count: number): string[] {
  return Array.from(
    { length: count },
    (_, i) =>
      `route ${verb} 172.${16 + (i >> 14)}.${(i >> 6) & 255}.${(i & 63) << 2}/30 dev eth0 proto static`,
  );
}

async function settleBriefly(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}
