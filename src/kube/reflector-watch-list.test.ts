import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StatusError } from "./errors.ts";
import type { FakeWatch } from "./fake-list-watch.test-kit.ts";
import { AWAY, begin, type Clock, GONE } from "./reflector.test-kit.ts";

describe("reflector: WatchList", () => {
  const END = { metadata: { name: "", annotations: { "k8s.io/initial-events-end": "true" } } };

  it("takes the list from the watch, and follows on the same stream", async () => {
    const { fake, log, reflector, settle } = begin({ watchList: true });
    reflector.start();
    await settle();
    const watch = fake.watches[0];
    assert.equal(watch?.options.initialEvents, true);
    assert.equal(watch?.options.resourceVersion, undefined);
    watch?.open();
    watch?.send("ADDED", "a", "3");
    watch?.send("ADDED", "b", "5");
    assert.equal(reflector.synced, false);
    assert.equal(reflector.live, false);
    watch?.send("BOOKMARK", END, "9");
    assert.deepEqual([reflector.synced, reflector.live], [true, true]);
    watch?.send("DELETED", "a", "10");
    assert.deepEqual(log, ["+a", "+b", "synced", "-a"]);
    assert.equal(fake.lists.length, 0);
    await reflector.stop();
  });

  it("B3: a second WatchList after 410 tells what was deleted meanwhile", async () => {
    const { clock, fake, log, reflector, settle } = begin({ watchList: true });
    reflector.start();
    await settle();
    fake.watches[0]?.send("ADDED", "a", "3");
    fake.watches[0]?.send("BOOKMARK", END, "9");
    fake.watches[0]?.fail(GONE);
    await clock.advance(800);
    assert.equal(fake.watches[1]?.options.initialEvents, true);
    fake.watches[1]?.send("ADDED", "b", "20");
    assert.deepEqual(log, ["+a", "synced", "+b"]);
    fake.watches[1]?.send("BOOKMARK", END, "21");
    assert.deepEqual(log, ["+a", "synced", "+b", "-a", "synced"]);
    await reflector.stop();
  });

  const event = { isWatchEvent: true };
  const refusals: [string, (watch: FakeWatch, clock: Clock) => unknown][] = [
    ["refuses it", (watch) => watch.fail(new StatusError(422, "Invalid", "sendInitialEvents is forbidden"))],
    [
      "sends an ERROR event (etcd 3.4)",
      (watch) => watch.fail(new StatusError(500, "InternalError", "RequestWatchProgress is disabled", event)),
    ],
    ["sends a bookmark without end", (watch) => watch.send("BOOKMARK", "", "4")],
    ["ends the stream", (watch) => watch.end()],
    ["never ends the list", (_watch, clock) => clock.advance(30_000)],
  ];
  for (const [name, refuse] of refusals) {
    it(`a server that ${name} is asked for pages, now and ever after`, async () => {
      const { clock, fake, log, reflector, settle, statuses } = begin({ watchList: true });
      reflector.start();
      await settle();
      fake.watches[0]?.open();
      fake.watches[0]?.send("ADDED", "a", "3");
      if (fake.watches[0] !== undefined) await refuse(fake.watches[0], clock);
      await settle();
      assert.ok(statuses.includes("no-watch-list"));
      fake.lists[0]?.answer(["b"], "9");
      await settle();
      assert.deepEqual(log, ["+a", "+b", "-a", "synced"]);
      assert.equal(fake.watches[1]?.options.initialEvents, undefined);
      fake.watches[1]?.fail(GONE);
      await clock.advance(800);
      assert.equal(fake.lists.length, 2);
      await reflector.stop();
    });
  }

  it("overload and refused credentials do not mean that WatchList is unknown", async () => {
    const { clock, fake, reflector, settle } = begin({ watchList: true });
    reflector.start();
    await settle();
    for (const error of [
      new StatusError(429, "TooManyRequests", "x"),
      new StatusError(401, "Unauthorized", "x"),
      AWAY,
    ]) {
      fake.watches.at(-1)?.fail(error);
      await clock.advance(1);
      assert.equal(fake.watches.at(-1)?.options.initialEvents, true);
    }
    assert.equal(fake.watches.length, 4);
    assert.equal(fake.lists.length, 0);
    await reflector.stop();
  });

  it("a list that takes long over a slow line is waited for while it goes on", async () => {
    const { clock, fake, log, reflector, settle } = begin({ watchList: true });
    reflector.start();
    await settle();
    for (const name of ["a", "b", "c", "d"]) {
      await clock.advance(20_000);
      fake.watches[0]?.send("ADDED", name, "3");
    }
    fake.watches[0]?.send("BOOKMARK", END, "9");
    assert.deepEqual(log, ["+a", "+b", "+c", "+d", "synced"]);
    await clock.advance(100_000);
    assert.equal(reflector.live, true);
    await reflector.stop();
    assert.deepEqual(clock.waiting, []);
  });
});
