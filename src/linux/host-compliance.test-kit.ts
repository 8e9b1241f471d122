/**
 * What every host driver promises, as tests: run against the twin (host-memory.test.ts) and, in network namespaces, against the kernel
 * (test/linux/host.test.ts). A subject is a host with a private link that carries 10.0.0.1/24 and fd00::1/64, and no mesh link.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { HostChanges, LinkChange, Route } from "../mesh/index.ts";
import {
  DEVICE_CHANGE,
  FIREWALL,
  MAKE_LINK,
  NO_CHANGES,
  onLink,
  prefix,
  ROUTES,
  RULES,
  ruleTexts,
  texts,
  unicast,
} from "./host-plan.test-kit.ts";
import type { DriftEvent, HostDriver } from "./ports.ts";

/** A host under test, and somebody else who changes it. */
export interface HostSubject {
  readonly driver: HostDriver;
  /** Adds a route of another program's through the private link, with metric 0. */
  addForeignRoute(destination: string): Promise<void>;
  removeForeignRoute(destination: string): Promise<void>;
  hasForeignRoute(destination: string): Promise<boolean>;
  /** Removes one of kg's routes. */
  removeOwnRoute(destination: string): Promise<void>;
  setMeshUp(up: boolean): Promise<void>;
  /** Resolves when events of what was done so far have been told. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Declares the suite. `make` gives a fresh subject for each test. */
export function describeHostDriver(name: string, make: () => Promise<HostSubject>): void {
  describe(`host driver: ${name}`, () => {
    let subject: HostSubject;
    let driver: HostDriver;
    const signal = new AbortController().signal;
    const apply = (changes: Partial<HostChanges>) => driver.apply({ ...NO_CHANGES, ...changes }, signal);

    beforeEach(async () => {
      subject = await make();
      driver = subject.driver;
    });

    afterEach(async () => {
      driver.close();
      driver.close();
      await subject.close();
    });

    it("reads an empty host as empty", async () => {
      const state = await driver.read();
      assert.equal(state.mesh, undefined);
      assert.deepEqual(state.routes, []);
      assert.deepEqual(state.rules, []);
      assert.equal(state.firewall, undefined);
      assert.equal(await driver.readDevice(), undefined);
    });

    it("makes the link and configures the device before it is up", async () => {
      assert.deepEqual(await apply({ mesh: MAKE_LINK, device: DEVICE_CHANGE }), []);
      const { mesh } = await driver.read();
      assert.equal(mesh?.up, true);
      assert.equal(mesh?.mtu, 1380);
      assert.deepEqual(mesh?.addresses.map((on) => on.text).sort(), ["10.46.0.1/16", "fd04::1/64"]);
      const device = await driver.readDevice();
      assert.equal(device?.listenPort, 51820);
      assert.deepEqual(
        device?.peers.map((peer) => peer.allowedIPs.map((ip) => ip.text)),
        [["10.42.1.0/24", "10.46.0.2/32"]],
      );
    });

    it("reads back exactly the routes that were planned: metric, source, gateway, table, both families", async () => {
      await apply({ mesh: MAKE_LINK });
      assert.deepEqual(await apply({ setRoutes: ROUTES }), []);
      const { routes } = await driver.read();
      assert.deepEqual(texts(routes), texts(ROUTES));
    });

    it("reads back exactly the rules that were planned", async () => {
      assert.deepEqual(await apply({ addRules: RULES }), []);
      assert.deepEqual(ruleTexts((await driver.read()).rules), ruleTexts(RULES));
      assert.deepEqual(await apply({ removeRules: RULES }), []);
      assert.deepEqual((await driver.read()).rules, []);
    });

    it("reads back the firewall that was planned, and changed elements", async () => {
      assert.deepEqual(await apply({ firewall: { kind: "replace", firewall: FIREWALL } }), []);
      assert.deepEqual((await driver.read()).firewall, FIREWALL);
      const sets = [
        {
          set: "remote_internal" as const,
          add: [prefix("192.168.0.3/32")],
          remove: [prefix("192.168.0.2/32")],
        },
      ];
      assert.deepEqual(await apply({ firewall: { kind: "elements", sets } }), []);
      const changed = (await driver.read()).firewall;
      assert.deepEqual(
        changed?.sets.remote_internal.map((member) => member.text),
        ["192.168.0.3/32"],
      );
    });

    it("sends nothing when there is nothing to do", async () => {
      await apply({ mesh: MAKE_LINK, device: DEVICE_CHANGE, setRoutes: ROUTES, addRules: RULES });
      const before = driver.mutations;
      assert.deepEqual(await apply({}), []);
      await driver.read();
      await driver.facts();
      assert.equal(driver.mutations, before);
    });

    it("counts one mutating call a route, rule, address and device change", async () => {
      await apply({ mesh: MAKE_LINK });
      const before = driver.mutations;
      await apply({ device: DEVICE_CHANGE, setRoutes: ROUTES, addRules: RULES });
      assert.equal(driver.mutations - before, 1 + ROUTES.length + RULES.length);
    });

    it("replaces an own route in its place, also when it gains or loses its gateway", async () => {
      await apply({ mesh: MAKE_LINK, setRoutes: ROUTES });
      const changed = [
        unicast("10.42.1.0/24", { gateway: "10.46.0.9" }),
        unicast("10.5.0.1/32", { gateway: "10.46.0.9", source: "10.0.0.1" }),
        unicast("10.42.2.0/24", {}),
        unicast("fd02:1::/64", { gateway: "fd04::9" }),
        unicast("fd02:2::/64", {}),
        unicast("fd05::1/128", { gateway: "fd04::9", metric: 77 }),
      ];
      assert.deepEqual(await apply({ setRoutes: changed }), []);
      const untouched = ROUTES.filter((route) => !changed.some((other) => samePlace(route, other)));
      assert.deepEqual(texts((await driver.read()).routes), texts([...untouched, ...changed]));
    });

    it("B50: a foreign route in the way is left alone and named, and the others are set", async () => {
      await apply({ mesh: MAKE_LINK });
      await subject.addForeignRoute("10.42.1.0/24");
      await subject.addForeignRoute("fd02:1::/64");
      const failures = await apply({ setRoutes: ROUTES });
      assert.deepEqual(
        failures.map((failure) => [failure.part, failure.code]),
        [
          ["route", "EEXIST"],
          ["route", "EEXIST"],
        ],
      );
      assert.match(
        failures[0]?.message ?? "",
        /^cannot add route 10\.42\.1\.0\/24 .*foreign route 10\.42\.1\.0\/24/,
      );
      assert.match(failures[1]?.message ?? "", /foreign route fd02:1::\/64/);
      assert.equal(await subject.hasForeignRoute("10.42.1.0/24"), true);
      assert.equal(await subject.hasForeignRoute("fd02:1::/64"), true);
      assert.equal((await driver.read()).routes.length, ROUTES.length - 2);
    });

    it("removing an own route leaves a foreign one to the same destination", async () => {
      await apply({ mesh: MAKE_LINK });
      const own = unicast("10.9.0.0/24", { gateway: "10.46.0.2", metric: 5 });
      await subject.addForeignRoute("10.9.0.0/24");
      await apply({ setRoutes: [own] });
      assert.deepEqual(await apply({ removeRoutes: [own] }), []);
      assert.equal(await subject.hasForeignRoute("10.9.0.0/24"), true);
      // Again, with no own route there: a removal must never hit another's.
      assert.deepEqual(await apply({ removeRoutes: [own, { ...own, metric: 0 }] }), []);
      assert.equal(await subject.hasForeignRoute("10.9.0.0/24"), true);
    });

    it("B10, B11: a route that the kernel refuses fails alone", async () => {
      await apply({ mesh: MAKE_LINK });
      const bad = [
        unicast("10.9.1.0/24", { gateway: "10.46.0.2", source: "10.99.99.99" }),
        unicast("fd09::/64", { gateway: "10.46.0.2" }),
        unicast("10.9.2.0/24", { gateway: "10.46.0.2", link: "tunnel" }),
      ];
      const failures = await apply({ setRoutes: [...bad, ...ROUTES] });
      assert.deepEqual(failures.map((failure) => failure.subject.split(" ")[0]).sort(), [
        "10.9.1.0/24",
        "10.9.2.0/24",
        "fd09::/64",
      ]);
      for (const failure of failures) assert.match(failure.message, /^cannot add route /);
      assert.equal((await driver.read()).routes.length, ROUTES.length);
    });

    it("a new tunnel address does not cost the routes of the link", async () => {
      await apply({ mesh: MAKE_LINK, setRoutes: ROUTES });
      const mesh: LinkChange = {
        create: false,
        addAddresses: [onLink("10.46.0.5/16"), onLink("fd04::5/64")],
        removeAddresses: [onLink("10.46.0.1/16"), onLink("fd04::1/64")],
      };
      assert.deepEqual(await apply({ mesh }), []);
      const state = await driver.read();
      assert.deepEqual(state.mesh?.addresses.map((on) => on.text).sort(), ["10.46.0.5/16", "fd04::5/64"]);
      assert.deepEqual(texts(state.routes), texts(ROUTES));
    });

    it("addresses that are there, or gone, already are no failure", async () => {
      await apply({ mesh: MAKE_LINK });
      const mesh: LinkChange = {
        create: false,
        addAddresses: MAKE_LINK.addAddresses,
        removeAddresses: [onLink("10.46.0.77/16")],
      };
      assert.deepEqual(await apply({ mesh }), []);
    });

    it("B53: a link that somebody sets down loses its routes, and that is told", async () => {
      await apply({ mesh: MAKE_LINK, setRoutes: ROUTES });
      const events = listen(driver);
      await subject.settle();
      events.length = 0;
      await subject.setMeshUp(false);
      await subject.settle();
      assert.ok(events.includes("links"), `told: ${events}`);
      const { mesh, routes } = await driver.read();
      assert.equal(mesh?.up, false);
      assert.equal(
        routes.some((route) => route.link === "mesh"),
        false,
      );
    });

    it("tells of an own route that somebody removed", async () => {
      await apply({ mesh: MAKE_LINK, setRoutes: ROUTES });
      const events = listen(driver);
      await subject.settle();
      events.length = 0;
      await subject.removeOwnRoute("10.42.2.0/24");
      await subject.removeOwnRoute("fd02:2::/64");
      await subject.settle();
      assert.ok(events.includes("routes"), `told: ${events}`);
    });

    it("tells when a foreign route that was in the way has gone, and of no other foreign route", async () => {
      await apply({ mesh: MAKE_LINK });
      await subject.addForeignRoute("10.42.1.0/24");
      await apply({ setRoutes: ROUTES });
      const events = listen(driver);
      await subject.settle();
      events.length = 0;
      await subject.addForeignRoute("10.77.0.0/24");
      await subject.removeForeignRoute("10.77.0.0/24");
      await subject.settle();
      assert.deepEqual(events, []);
      await subject.removeForeignRoute("10.42.1.0/24");
      await subject.settle();
      assert.deepEqual(events, ["routes"]);
    });

    it("does not tell of its own changes", async () => {
      await apply({ mesh: { ...MAKE_LINK, up: false } });
      const events = listen(driver);
      await driver.read();
      await apply({ mesh: { create: false, mtu: 1300, up: true, addAddresses: [], removeAddresses: [] } });
      await apply({ setRoutes: ROUTES, addRules: RULES });
      await apply({ removeRoutes: ROUTES, removeRules: RULES });
      await subject.settle();
      assert.deepEqual(events, []);
    });

    it("removes everything of its own and nothing else, and says what", async () => {
      await apply({ mesh: MAKE_LINK, setRoutes: ROUTES, addRules: RULES });
      await apply({ firewall: { kind: "replace", firewall: FIREWALL } });
      await subject.addForeignRoute("10.9.0.0/24");
      const { removed, failures } = await driver.removeEverything();
      assert.deepEqual(failures, []);
      assert.equal(removed.filter((line) => line.startsWith("route ")).length, ROUTES.length);
      assert.equal(removed.filter((line) => line.startsWith("rule ")).length, RULES.length);
      assert.ok(
        removed.includes("route 10.42.1.0/24 via 10.46.0.2 dev kilo0 src 10.0.0.1"),
        removed.join("\n"),
      );
      assert.equal(removed.length, ROUTES.length + RULES.length + 2);
      const state = await driver.read();
      assert.deepEqual(
        [state.mesh, state.routes, state.rules, state.firewall],
        [undefined, [], [], undefined],
      );
      assert.equal(await subject.hasForeignRoute("10.9.0.0/24"), true);
      assert.deepEqual(await driver.removeEverything(), { removed: [], failures: [] });
    });

    it("knows the host: links, addresses, and the mesh link never as the way out", async () => {
      await apply({ mesh: MAKE_LINK });
      const facts = await driver.facts();
      const uplink = facts.links.find((link) => link.addresses.some((on) => on.text === "10.0.0.1/24"));
      assert.equal(uplink?.up, true);
      assert.deepEqual(facts.defaultRoute, { link: uplink?.name, mtu: uplink?.mtu });
      assert.ok(facts.links.some((link) => link.name === "kilo0"));
    });

    it("an aborted apply throws and does nothing", async () => {
      const before = driver.mutations;
      await assert.rejects(driver.apply({ ...NO_CHANGES, mesh: MAKE_LINK }, AbortSignal.abort()));
      assert.equal(driver.mutations, before);
    });
  });
}

function listen(driver: HostDriver): DriftEvent["kind"][] {
  const events: DriftEvent["kind"][] = [];
  driver.watch((event) => events.push(event.kind));
  return events;
}

function samePlace(a: Route, b: Route): boolean {
  return a.destination.text === b.destination.text && a.metric === b.metric && a.table === b.table;
}
