/** The real host driver passes the compliance suite, with a veth as mesh link; and what only a real kernel shows. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { describeHostDriver } from "../../src/linux/host-compliance.test-kit.ts";
import { DEVICE_CHANGE, MAKE_LINK, manyRoutes, NO_CHANGES } from "../../src/linux/host-plan.test-kit.ts";
import { createHost, createMemoryFirewall, LinkRoles } from "../../src/linux/index.ts";
import { fakeDevice } from "./fake-device.ts";
import { kernelHost } from "./kernel-host.ts";
import { emptyNamespace, ip, makeUplink, requireFreshNamespace } from "./namespace.ts";

requireFreshNamespace();

describeHostDriver("kernel, veth as mesh link", async () => kernelHost(fakeDevice("kilo0")));

it("a firewall that can be neither read nor written does not keep link and routes from converging", async () => {
  makeUplink();
  const broken = async () => {
    throw new Error("nft is broken");
  };
  const firewall = {
    ...createMemoryFirewall(),
    read: broken,
    apply: broken,
    watch: () => () => undefined,
    close: () => undefined,
  };
  const links = new LinkRoles({ mesh: "kilo0", private: "eth0" });
  const host = createHost({ links, device: fakeDevice("kilo0"), firewall });
  const sets = {
    masquerade_from: [],
    keep_source: [],
    location_ips: [],
    location_nodes: [],
    remote_internal: [],
  };
  const failures = await host.apply(
    {
      ...NO_CHANGES,
      mesh: MAKE_LINK,
      setRoutes: manyRoutes(3),
      firewall: { kind: "replace", firewall: { sets } },
    },
    AbortSignal.timeout(10_000),
  );
  assert.deepEqual(
    failures.map((failure) => [failure.part, failure.message]),
    [["firewall", "nft is broken"]],
  );
  const state = await host.read();
  assert.equal(state.firewall, undefined);
  assert.equal(state.routes.length, 3);
  host.close();
  emptyNamespace();
});

it("a device that cannot be configured leaves its new link down, and one that is up stays up", async () => {
  makeUplink();
  const device = fakeDevice("kilo0");
  const configure = device.apply;
  const refuse = async () => {
    throw new Error("the port is taken");
  };
  const links = new LinkRoles({ mesh: "kilo0", private: "eth0" });
  const host = createHost({ links, device, firewall: createMemoryFirewall() });
  const apply = (create: boolean) =>
    host.apply(
      { ...NO_CHANGES, mesh: { ...MAKE_LINK, create }, device: DEVICE_CHANGE },
      AbortSignal.timeout(10_000),
    );

  device.apply = refuse;
  assert.deepEqual(
    (await apply(true)).map((failure) => [failure.part, failure.message]),
    [["device", "the port is taken"]],
  );
  await apply(false);
  assert.equal((await host.read()).mesh?.up, false);

  device.apply = configure;
  assert.deepEqual(await apply(false), []);
  assert.equal((await host.read()).mesh?.up, true);

  device.apply = refuse;
  await host.apply({ ...NO_CHANGES, device: DEVICE_CHANGE }, AbortSignal.timeout(10_000));
  assert.equal((await host.read()).mesh?.up, true);
  host.close();
  emptyNamespace();
});

it("clean-up of a link that kg did not make: the link stays, without kg's addresses", async () => {
  makeUplink();
  const device = fakeDevice("kilo0");
  device.remove = async () => [];
  const links = new LinkRoles({ mesh: "kilo0", private: "eth0" });
  const host = createHost({ links, device, firewall: createMemoryFirewall() });
  await host.apply({ ...NO_CHANGES, mesh: MAKE_LINK, setRoutes: manyRoutes(2) }, AbortSignal.timeout(10_000));
  const { removed, failures } = await host.removeEverything();
  assert.deepEqual(failures, []);
  assert.ok(removed.includes("address 10.46.0.1/16 of link kilo0"), removed.join("\n"));
  assert.ok(removed.includes("address fd04::1/64 of link kilo0"), removed.join("\n"));
  const { mesh, routes } = await host.read();
  assert.deepEqual([mesh?.addresses, routes], [[], []]);
  assert.match(ip("route show dev eth0"), /default via 10\.0\.0\.254/, "the host's own are left alone");
  host.close();
  emptyNamespace();
});
