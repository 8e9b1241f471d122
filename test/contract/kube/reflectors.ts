/** Reflectors on a server that restarts, forgets and is away. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import {
  createReflector,
  NODES,
  projectNode,
  type Reflector,
  type ReflectorOptions,
} from "../../../src/kube/index.ts";
import type { NodeObject } from "../../../src/mesh/index.ts";
import type { ServerUnderTest } from "../kube.ts";
import { eventually, openWorkplace, type Workplace } from "./workplace.ts";

/** Changes made while a server was away must be in so long after its return. */
const BACK_WITHIN_MS = 5_000;

export function reflectorContract(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(`${name}: reflectors`, () => {
    let place: Workplace;
    const reflectors: Reflector<NodeObject>[] = [];
    before(async () => {
      place = await openWorkplace(open);
    });
    afterEach(() => Promise.all(reflectors.splice(0).map((reflector) => reflector.stop())));
    after(() => place.close());

    for (const watchList of [false, true]) {
      it(`lists and follows, by ${watchList ? "WatchList or its fall-back" : "pages"}`, async () => {
        const prefix = watchList ? "w" : "f";
        const keys = [1, 2, 3].map((number) => `${prefix}${number}`);
        await place.createNodes(...keys);
        const { reflector, log } = begin({ pageSize: 2, watchList });
        reflector.start();
        await eventually("synced and live", () => reflector.synced && reflector.live);
        for (const key of keys) assert.ok(reflector.items().has(place.name(key)));
        log.length = 0;
        await annotate(`${prefix}1`, "1");
        await place.client.delete(NODES, place.name(`${prefix}2`));
        await place.createNodes(`${prefix}4`);
        await eventually("three changes", () => log.length === 3);
        assert.deepEqual(log, [`changed ${prefix}1`, `removed ${prefix}2`, `added ${prefix}4`]);
      });
    }

    it("what the mesh does not read changes nothing", async () => {
      await place.createNodes("q", "r");
      const { reflector, log } = begin();
      reflector.start();
      await eventually("live", () => reflector.live);
      log.length = 0;
      const options = { kind: "strategic" } as const;
      await place.client.patch(
        NODES,
        place.name("q"),
        { metadata: { annotations: { "other.io/a": "1" } } },
        options,
      );
      await annotate("r", "1");
      await eventually("the change after it", () => log.length > 0);
      assert.deepEqual(log, ["changed r"]);
    });

    it("B3: what was deleted while nobody watched, beyond the server's memory, is removed", async () => {
      await place.createNodes("t1", "t2");
      const { reflector, log, statuses } = begin();
      reflector.start();
      await eventually("live", () => reflector.live);
      await reflector.stop();
      log.length = 0;
      await place.client.delete(NODES, place.name("t1"));
      await annotate("t2", "1");
      await place.createNodes("t3");
      await place.server.expire();
      assert.ok(reflector.items().has(place.name("t1")));
      reflector.start();
      await eventually("the second list", () => statuses.filter((kind) => kind === "synced").length === 2);
      assert.deepEqual(log.sort(), ["added t3", "changed t2", "removed t1"]);
      assert.ok(!reflector.items().has(place.name("t1")));
    });

    it("a server that is stopped and started again in the middle: nothing is lost, what changes after is seen in 5 s", async () => {
      await place.createNodes("u1", "u2");
      const { reflector, log } = begin();
      reflector.start();
      await eventually("live", () => reflector.live);
      const before = new Map(reflector.items());
      log.length = 0;
      await place.server.stop();
      await eventually("not live", () => !reflector.live);
      await eventually("an error that says so", () =>
        /no answer|cut|closed/.test(String(reflector.lastError)),
      );
      assert.deepEqual(new Map(reflector.items()), before);
      assert.equal(log.length, 0, log.join());
      await place.server.start();
      await annotate("u1", "1");
      await eventually("live again", () => reflector.live, BACK_WITHIN_MS);
      await eventually("the change", () => log.includes("changed u1"), BACK_WITHIN_MS);
      assert.equal(reflector.lastError, undefined);
      assert.deepEqual(
        log.filter((line) => line.startsWith("removed")),
        [],
      );
    });

    it("a server that is away at the start is waited for", async () => {
      await place.createNodes("v");
      await place.server.stop();
      const { reflector, log } = begin();
      reflector.start();
      await eventually("a failure", () => reflector.lastError !== undefined);
      assert.equal(reflector.synced, false);
      await place.server.start();
      await eventually("synced", () => reflector.synced, BACK_WITHIN_MS);
      assert.ok(log.includes("added v"));
    });

    const annotate = (suffix: string, value: string) =>
      place.client.patch(
        NODES,
        place.name(suffix),
        { metadata: { annotations: { "kilo.squat.ai/a": value } } },
        { kind: "strategic" },
      );

    /** A reflector of this group's nodes, and a log like `added a`. */
    function begin(options: Partial<ReflectorOptions<NodeObject>> = {}) {
      const log: string[] = [];
      const statuses: string[] = [];
      const reflector = createReflector<NodeObject>({
        client: place.client,
        resource: NODES,
        labelSelector: place.labelSelector,
        project: projectNode("topology.kubernetes.io/region"),
        onChange: (change) => log.push(`${change.kind} ${change.name.slice(place.name("").length)}`),
        onStatus: (status) => statuses.push(status.kind),
        ...options,
      });
      reflectors.push(reflector);
      return { reflector, log, statuses };
    }
  });
}
