import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrefix } from "../ip/index.ts";
import { MAIN_TABLE, routeKey } from "../mesh/index.ts";
import { describeHostDriver, type HostSubject } from "./host-compliance.test-kit.ts";
import { createMemoryHost, type MemoryHost } from "./host-memory.ts";
import type { MemoryRoute } from "./host-memory-kernel.ts";
import { DEVICE_CHANGE, MAKE_LINK, manyRoutes, NO_CHANGES } from "./host-plan.test-kit.ts";

const FOREIGN = 3;
const signal = new AbortController().signal;

describeHostDriver("in memory", async () =>
  subjectOf(createMemoryHost({ addresses: ["10.0.0.1/24", "fd00::1/64"] })),
);

test("the twin fails where a test wants it to, and the rest is done", async () => {
  const host = createMemoryHost();
  host.failWhen((operation) => (operation.includes("10.128.3.0/24") ? new Error("out of luck") : undefined));
  const failures = await host.apply({ ...NO_CHANGES, mesh: MAKE_LINK, setRoutes: manyRoutes(10) }, signal);
  assert.deepEqual(
    failures.map((failure) => [failure.part, failure.code, failure.message]),
    [["route", "UNKNOWN", "out of luck"]],
  );
  assert.equal((await host.read()).routes.length, 9);
});

test("a device that cannot be configured leaves its new link down, and one that is up stays up", async () => {
  const host = createMemoryHost();
  const plan = { ...NO_CHANGES, mesh: MAKE_LINK, device: DEVICE_CHANGE };
  host.failWhen((operation) => (operation === "change the device" ? new Error("refused") : undefined));
  await host.apply(plan, signal);
  await host.apply({ ...plan, mesh: { ...MAKE_LINK, create: false } }, signal);
  assert.equal((await host.read()).mesh?.up, false);
  host.failWhen(undefined);
  await host.apply({ ...plan, mesh: { ...MAKE_LINK, create: false } }, signal);
  host.failWhen((operation) => (operation === "change the device" ? new Error("refused") : undefined));
  await host.apply({ ...NO_CHANGES, device: DEVICE_CHANGE }, signal);
  assert.equal((await host.read()).mesh?.up, true);
});

test("the twin counts reads, applies that had something to do, and mutating calls", async () => {
  const host = createMemoryHost();
  await host.apply({ ...NO_CHANGES, mesh: MAKE_LINK, setRoutes: manyRoutes(10) }, signal);
  await host.apply(NO_CHANGES, signal);
  await host.read();
  // create, MTU, two addresses, up, ten routes
  assert.deepEqual(host.counters, { mutations: 15, applies: 1, reads: 1, cniWrites: 0 });
});

test("what others do to the twin is told and not counted", async () => {
  const host = createMemoryHost();
  await host.apply(
    { ...NO_CHANGES, mesh: MAKE_LINK, device: DEVICE_CHANGE, setRoutes: manyRoutes(10) },
    signal,
  );
  const before = host.mutations;
  const told: string[] = [];
  host.watch((event) => told.push(event.kind));
  host.changedByOthers("links", (kernel) => kernel.removeLink("mesh"));
  assert.equal(host.mutations, before);
  assert.deepEqual(told, ["links"]);
  const state = await host.read();
  assert.deepEqual([state.mesh, state.routes], [undefined, []]);
});

test("K-23: the twin can read back without peers", async () => {
  const host = createMemoryHost();
  await host.apply({ ...NO_CHANGES, mesh: MAKE_LINK, device: DEVICE_CHANGE }, signal);
  host.losePeersOnRead = true;
  assert.deepEqual((await host.readDevice())?.peers, []);
  host.losePeersOnRead = false;
  assert.equal((await host.readDevice())?.peers.length, 1);
});

function subjectOf(host: MemoryHost): HostSubject {
  const { kernel } = host;
  const waiting = new Set<string>();
  const forget = (which: (entry: MemoryRoute) => boolean): void => {
    for (const [key, entry] of kernel.routes) if (which(entry)) kernel.routes.delete(key);
  };
  return {
    driver: host,
    addForeignRoute: async (text) => {
      const destination = parsePrefix(text);
      assert.ok(destination);
      const route = {
        kind: "unicast" as const,
        destination,
        link: "private" as const,
        table: MAIN_TABLE,
        metric: 0,
      };
      kernel.routes.set(routeKey(route), { route, protocol: FOREIGN });
      // The driver under test wants this place; the twin's events are the test's to tell.
      if (text === "10.42.1.0/24") waiting.add(text);
    },
    removeForeignRoute: async (text) => {
      forget((entry) => isForeign(entry, text));
      if (waiting.delete(text)) host.changedByOthers("routes");
    },
    hasForeignRoute: async (text) => [...kernel.routes.values()].some((entry) => isForeign(entry, text)),
    removeOwnRoute: async (text) => {
      host.changedByOthers("routes", () => forget((entry) => entry.route.destination.text === text));
    },
    setMeshUp: async (up) => {
      const link = kernel.links.get("mesh");
      assert.ok(link);
      host.changedByOthers("links", () => kernel.setUp("mesh", link, up));
    },
    settle: async () => undefined,
    close: async () => undefined,
  };
}

function isForeign(entry: MemoryRoute, text: string): boolean {
  return entry.protocol === FOREIGN && entry.route.destination.text === text;
}
