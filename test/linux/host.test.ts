/** The real host driver passes the compliance suite, with a veth as mesh link; and what only a real kernel shows. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { describeHostDriver } from "../../src/linux/host-compliance.test-kit.ts";
import { MAKE_LINK, manyRoutes, NO_CHANGES } from "../../src/linux/host-plan.test-kit.ts";
import { createHost, createMemoryFirewall, LinkRoles } from "../../src/linux/index.ts";
import { fakeDevice } from "./fake-device.ts";
import { kernelHost } from "./kernel-host.ts";
import { emptyNamespace, makeUplink, requireFreshNamespace } from "./namespace.ts";

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
