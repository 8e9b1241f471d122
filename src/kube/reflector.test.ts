import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StatusError } from "./errors.ts";
import { AWAY, begin, GONE, sync } from "./reflector.test-kit.ts";

describe("reflector: list and watch", () => {
  it("lists in pages, watches from the list's version with bookmarks and a random end, and follows", async () => {
    const { fake, log, reflector, settle } = begin({ pageSize: 2, random: () => 0.5 });
    reflector.start();
    await settle();
    assert.deepEqual(pick(fake.lists[0]?.options), { limit: 2, continue: undefined });
    fake.lists[0]?.answer(["a", "b"], "10", "token");
    await settle();
    assert.deepEqual(pick(fake.lists[1]?.options), { limit: 2, continue: "token" });
    assert.equal(reflector.synced, false);
    fake.lists[1]?.answer(["c"], "11");
    await settle();
    assert.equal(reflector.synced, true);
    assert.equal(reflector.live, false, "the watch is not accepted yet");
    assert.equal(reflector.listedAt, 1_700_000_000);

    const watch = fake.watches[0];
    assert.equal(watch?.options.resourceVersion, "10");
    assert.equal(watch?.options.timeoutSeconds, 450);
    watch?.open();
    assert.equal(reflector.live, true);
    watch?.send("ADDED", "d", "12");
    watch?.send("DELETED", "a", "13");
    assert.deepEqual(log, ["+a", "+b", "+c", "synced", "+d", "-a"]);
    assert.deepEqual([...reflector.items().keys()], ["b", "c", "d"]);
    await reflector.stop();
    assert.equal(reflector.live, false);
  });

  it("an ended watch goes on from the last event or bookmark, without pause and without a list", async () => {
    const { clock, fake, reflector, settle } = begin();
    await sync(fake, reflector, settle, ["a"]);
    fake.watches[0]?.open();
    fake.watches[0]?.send("MODIFIED", "a", "12");
    fake.watches[0]?.send("BOOKMARK", "", "40");
    await clock.advance(300_000);
    fake.watches[0]?.end();
    await settle();
    assert.equal(fake.watches.length, 2);
    assert.equal(fake.watches[1]?.options.resourceVersion, "40");
    assert.equal(fake.lists.length, 1);
    await reflector.stop();
  });

  it("a server that accepts watches and closes them at once is not asked without pause", async () => {
    const { clock, fake, reflector, settle } = begin({ random: () => 1 });
    await sync(fake, reflector, settle, ["a"]);
    for (let round = 0; round < 4; round++) {
      fake.watches.at(-1)?.open();
      fake.watches.at(-1)?.end();
      await settle();
      assert.equal(fake.watches.length, round + 1);
      await clock.advance(800 * 2 ** round);
    }
    assert.equal(fake.watches.length, 5);
    await reflector.stop();
  });

  it("a change that the projection does not see is no change", async () => {
    const { fake, log, reflector, settle } = begin({ project: (node) => ({ uid: node.metadata.uid }) });
    await sync(fake, reflector, settle, ["a"]);
    log.length = 0;
    fake.watches[0]?.send("MODIFIED", { metadata: { name: "a" }, status: { heartbeat: 1 } }, "20");
    fake.watches[0]?.send("MODIFIED", { metadata: { name: "a", uid: "u" } }, "21");
    assert.deepEqual(log, ["~a"]);
    await reflector.stop();
  });

  it("objects of a namespaced resource are kept by namespace/name", async () => {
    const { fake, reflector, settle } = begin();
    const object = (namespace: string) => ({ metadata: { name: "x", namespace } });
    await sync(fake, reflector, settle, [object("n"), object("m")]);
    assert.deepEqual([...reflector.items().keys()], ["n/x", "m/x"]);
    await reflector.stop();
  });
});

describe("reflector: what was missed", () => {
  for (const isOpen of [false, true]) {
    it(`B3: 410 ${isOpen ? "as an event" : "instead of a watch"}: a new list tells what was deleted, added and changed meanwhile`, async () => {
      const { clock, fake, log, reflector, settle } = begin({
        project: (node) => ({ uid: node.metadata.uid }),
      });
      await sync(fake, reflector, settle, ["a", "b", "c"]);
      log.length = 0;
      if (isOpen) fake.watches[0]?.open();
      fake.watches[0]?.fail(GONE);
      await clock.advance(800);
      assert.equal(fake.lists.length, 2);
      assert.deepEqual(
        [...reflector.items().keys()],
        ["a", "b", "c"],
        "nothing leaves before the list is complete",
      );
      fake.lists[1]?.answer([{ metadata: { name: "b", uid: "new" } }], "90", "more");
      await settle();
      assert.deepEqual(log, ["~b"]);
      fake.lists[2]?.answer(["c", "d"], "90");
      await settle();
      assert.deepEqual(log, ["~b", "+d", "-a", "synced"]);
      assert.equal(fake.watches[1]?.options.resourceVersion, "90");
      await reflector.stop();
    });
  }

  it("nothing is removed by a list that fails, is forbidden or breaks off, however often", async () => {
    const { clock, fake, log, reflector, settle } = begin();
    await sync(fake, reflector, settle, ["a", "b"]);
    log.length = 0;
    fake.watches[0]?.fail(GONE);
    for (const error of [
      new StatusError(404, "NotFound", "no CRD"),
      new StatusError(403, "Forbidden", "no"),
      AWAY,
    ]) {
      await clock.advance(30_000);
      fake.lists.at(-1)?.answer(["b"], "50", "more");
      await settle();
      fake.lists.at(-1)?.fail(error);
      await settle();
      assert.equal(reflector.lastError, error);
    }
    assert.deepEqual(log, []);
    assert.deepEqual([...reflector.items().keys()], ["a", "b"]);
    assert.equal(reflector.listedAt, 1_700_000_000);
    await clock.advance(30_000);
    fake.lists.at(-1)?.answer([], "60");
    await settle();
    assert.deepEqual(log, ["-a", "-b", "synced"]);
    assert.equal(reflector.lastError, undefined);
    await reflector.stop();
  });

  it("a list that expires between its pages begins anew at once, in larger pages", async () => {
    const { fake, log, reflector, settle } = begin({ pageSize: 2 });
    reflector.start();
    await settle();
    fake.lists[0]?.answer(["a", "b"], "10", "token");
    await settle();
    fake.lists[1]?.fail(GONE);
    await settle();
    assert.deepEqual(pick(fake.lists[2]?.options), { limit: 8, continue: undefined });
    fake.lists[2]?.answer(["b"], "20");
    await settle();
    assert.deepEqual(log, ["+a", "+b", "-a", "synced"]);
    await reflector.stop();
  });
});

describe("reflector: failures", () => {
  it("a server that is away is tried again with jitter, and the watch goes on where it was", async () => {
    const { clock, fake, reflector, retries, settle } = begin({ random: () => 1 });
    await sync(fake, reflector, settle, ["a"]);
    fake.watches[0]?.open();
    await clock.advance(60_000);
    fake.watches[0]?.fail(AWAY);
    await settle();
    assert.equal(reflector.live, false);
    for (const pause of [800, 1_600, 3_000, 3_000]) {
      await clock.advance(pause);
      fake.watches.at(-1)?.fail(AWAY);
      await settle();
    }
    assert.deepEqual(retries, [800, 1_600, 3_000, 3_000, 3_000]);
    await clock.advance(3_000);
    fake.watches.at(-1)?.open();
    assert.equal(reflector.live, true);
    assert.equal(fake.watches.at(-1)?.options.resourceVersion, "10");
    assert.equal(fake.lists.length, 1);
    assert.deepEqual([...reflector.items().keys()], ["a"]);
    await reflector.stop();
  });

  it("a server that hangs: the watch does not count as live after so much silence, until something comes", async () => {
    const { clock, fake, reflector, settle } = begin({ quietAfterMs: 35_000 });
    await sync(fake, reflector, settle, ["a"]);
    fake.watches[0]?.open();
    await clock.advance(34_000);
    assert.equal(reflector.live, true);
    await clock.advance(2_000);
    assert.equal(reflector.live, false);
    fake.watches[0]?.send("BOOKMARK", "", "20");
    assert.equal(reflector.live, true);
    await reflector.stop();
  });

  it("one bad object is left out and told, the others stay", async () => {
    const { fake, log, reflector, settle, statuses } = begin({
      project: (node) => {
        if (node.metadata.name === "bad") throw new Error("bad");
        return { uid: node.metadata.uid };
      },
    });
    await sync(fake, reflector, settle, ["a", "bad", "b"]);
    assert.deepEqual(log, ["+a", "+b", "synced"]);
    assert.ok(statuses.includes("left-out"));
    await reflector.stop();
  });

  it("start and stop are idempotent; after stop nothing is called back and no timer is left", async () => {
    const { clock, fake, log, reflector, settle } = begin();
    await reflector.stop();
    reflector.start();
    reflector.start();
    await settle();
    assert.equal(fake.lists.length, 1);
    const stopped = reflector.stop();
    fake.lists[0]?.answer(["a"], "1");
    await Promise.all([stopped, reflector.stop()]);
    await clock.advance(100_000);
    assert.deepEqual(log, []);
    assert.deepEqual(clock.waiting, []);
    reflector.start();
    await settle();
    assert.equal(fake.lists.length, 2);
    await reflector.stop();
  });

  it("stop ends a pause at once", async () => {
    const { clock, fake, reflector, settle } = begin({ random: () => 1 });
    reflector.start();
    await settle();
    fake.lists[0]?.fail(AWAY);
    await settle();
    assert.equal(clock.waiting.length, 1);
    await reflector.stop();
    assert.deepEqual(clock.waiting, []);
  });
});

function pick(options: { limit?: number | undefined; continue?: string | undefined } | undefined) {
  return { limit: options?.limit, continue: options?.continue };
}
