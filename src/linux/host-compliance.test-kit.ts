/**
 * What every host driver promises, as tests: run against the twin (host-memory.test.ts) and, in network namespaces, against the kernel
 * (test/linux/host.test.ts). A subject is a host with a private link that carries 10.0.0.1/24 and fd00::1/64, and no mesh link.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { parseAddress, parseInterfaceAddress, parsePrefix } from "../ip/index.ts";
import {
  type Firewall,
  type HostChanges,
  type LinkChange,
  MAIN_TABLE,
  POLICY_TABLE,
  type Route,
  RULE_PRIORITY,
  type Rule,
  UNREACHABLE_METRIC,
} from "../mesh/index.ts";
import { parsePublicKey, SecretKey, socketEndpoint } from "../wireguard/index.ts";
import type { DriftEvent, HostDriver } from "./ports.ts";
import { formatRoute } from "./routes.ts";

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

/** Nothing to do. */
export const NO_CHANGES: HostChanges = { setRoutes: [], removeRoutes: [], addRules: [], removeRules: [] };

/** How a mesh link is made: with an address of each family, and up. */
export const MAKE_LINK: LinkChange = {
  create: true,
  mtu: 1380,
  up: true,
  addAddresses: [onLink("10.46.0.1/16"), onLink("fd04::1/64")],
  removeAddresses: [],
};

const ROUTES: readonly Route[] = [
  unicast("10.42.1.0/24", { gateway: "10.46.0.2", source: "10.0.0.1" }),
  unicast("10.42.2.0/24", { gateway: "10.46.0.3" }),
  unicast("192.168.0.2/32", { gateway: "10.46.0.2", source: "10.0.0.1", metric: 50 }),
  unicast("10.5.0.1/32", { source: "10.0.0.1" }),
  unicast("10.42.3.0/24", { gateway: "10.0.0.7", link: "private" }),
  unicast("10.0.0.7/32", { gateway: "10.0.0.7", link: "private", table: POLICY_TABLE, source: "10.0.0.1" }),
  unreachable("10.46.0.0/16"),
  unreachable("10.42.1.0/24"),
  unicast("fd02:1::/64", { gateway: "fd04::2", source: "fd00::1" }),
  unicast("fd02:2::/64", { gateway: "fd04::3" }),
  unicast("fd05::1/128", { source: "fd00::1", metric: 77 }),
  unicast("fd02:3::/64", { gateway: "fd00::7", link: "private" }),
  unreachable("fd04::/64"),
  unreachable("fd02:1::/64"),
];

const RULES: readonly Rule[] = [
  { priority: RULE_PRIORITY, from: prefix("10.42.0.0/24"), to: prefix("10.0.0.7/32"), table: POLICY_TABLE },
  { priority: RULE_PRIORITY, to: prefix("10.0.0.7/32"), inputLink: "mesh", table: POLICY_TABLE },
  { priority: RULE_PRIORITY, to: prefix("fd00::7/128"), table: POLICY_TABLE },
];

const FIREWALL: Firewall = {
  sets: {
    masquerade_from: [prefix("10.42.0.0/24")],
    keep_source: [prefix("10.42.0.0/16"), prefix("fd02::/16")],
    location_ips: [],
    location_nodes: [],
    remote_internal: [prefix("192.168.0.2/32")],
  },
  remoteInternalLink: "mesh",
};

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

const PEER_KEY = parsePublicKey("GY5aMYnhwt0hkjPG0rEhUvR2PYmYvgP5CmB8DpTqbkk=");

/** A key, a port and one peer. */
export const DEVICE_CHANGE = {
  privateKey: SecretKey.fromBytes(new Uint8Array(32).fill(0x41)),
  listenPort: 51820,
  peers:
    PEER_KEY === undefined
      ? []
      : [
          {
            kind: "add" as const,
            publicKey: PEER_KEY,
            endpoint: socketEndpoint(address("192.0.2.1"), 51820),
            allowedIPs: [prefix("10.42.1.0/24"), prefix("10.46.0.2/32")],
            persistentKeepalive: 0,
          },
        ],
};

/** Many routes through the mesh link, each of its own /24 below 10.128.0.0/9. */
export function manyRoutes(count: number): Route[] {
  return Array.from({ length: count }, (_, i) =>
    unicast(`10.${128 + Math.floor(i / 256)}.${i % 256}.0/24`, { gateway: "10.46.0.2", source: "10.0.0.1" }),
  );
}

/** A text for each route, sorted, so that lists can be compared. */
export function texts(routes: readonly Route[]): string[] {
  return routes.map((route) => formatRoute(route, route.link)).sort();
}

function listen(driver: HostDriver): DriftEvent["kind"][] {
  const events: DriftEvent["kind"][] = [];
  driver.watch((event) => events.push(event.kind));
  return events;
}

function ruleTexts(rules: readonly Rule[]): string[] {
  return rules
    .map((rule) => [rule.priority, rule.from?.text, rule.to?.text, rule.inputLink, rule.table].join(" "))
    .sort();
}

function samePlace(a: Route, b: Route): boolean {
  return a.destination.text === b.destination.text && a.metric === b.metric && a.table === b.table;
}

function unicast(
  destination: string,
  more: { gateway?: string; source?: string; metric?: number; table?: number; link?: Route["link"] },
): Route {
  return {
    kind: "unicast",
    destination: prefix(destination),
    link: more.link ?? "mesh",
    gateway: more.gateway === undefined ? undefined : address(more.gateway),
    source: more.source === undefined ? undefined : address(more.source),
    table: more.table ?? MAIN_TABLE,
    metric: more.metric ?? 0,
  };
}

function unreachable(destination: string): Route {
  return {
    kind: "unreachable",
    destination: prefix(destination),
    table: MAIN_TABLE,
    metric: UNREACHABLE_METRIC,
  };
}

function prefix(text: string) {
  return required(parsePrefix(text), text);
}

function address(text: string) {
  return required(parseAddress(text), text);
}

function onLink(text: string) {
  return required(parseInterfaceAddress(text), text);
}

function required<T>(value: T | undefined, text: string): T {
  if (value === undefined) throw new Error(`cannot read the test's own input: ${text}`);
  return value;
}
