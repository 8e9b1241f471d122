import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { isExpired, ProtocolError, StatusError } from "./errors.ts";
import { createFakeClock } from "./fake-clock.test-kit.ts";
import type { RawObject, WatchEvent } from "./objects.ts";
import { NODES } from "./resources.ts";
import { readWatch } from "./watch.ts";

describe("watch stream", () => {
  it("hands over events in order, also when they are cut anywhere, and ends in order", async () => {
    const { body, events, done } = begin();
    const bytes = Buffer.from(
      line("ADDED", "ä") + line("MODIFIED", "ä") + line("BOOKMARK", "") + line("NEWS", "x"),
    );
    for (const byte of bytes) body.write(Buffer.of(byte));
    body.end();
    await done;
    assert.deepEqual(
      events.map((event) => `${event.type} ${event.object.metadata.name}`),
      ["ADDED ä", "MODIFIED ä", "BOOKMARK "],
    );
  });

  it("an ERROR event rejects with its Status, and nothing after it is handed over", async () => {
    const { body, events, done } = begin();
    const status = {
      kind: "Status",
      code: 410,
      reason: "Expired",
      message: "too old resource version: 1 (9)",
    };
    body.write(`${JSON.stringify({ type: "ERROR", object: status })}\n${line("ADDED", "a")}`);
    const error = await failure(done);
    assert.ok(isExpired(error) && error instanceof StatusError && error.isWatchEvent);
    assert.match(error.message, /cannot watch nodes: 410 too old resource version/);
    assert.deepEqual(events, []);
  });

  it("what is no event rejects without quoting it", async () => {
    for (const text of ["{hunter2\n", "7\n", '{"type":"ADDED","object":"hunter2"}\n']) {
      const { body, done } = begin();
      body.write(text);
      const error = await failure(done);
      assert.ok(error instanceof ProtocolError);
      assert.doesNotMatch(error.message, /hunter2/);
    }
  });

  it("an end inside an event and a cut connection reject", async () => {
    const unfinished = begin();
    unfinished.body.end('{"type":"ADDED"');
    assert.match(String(await failure(unfinished.done)), /inside an event/);
    const cut = begin();
    cut.body.destroy(new Error("ECONNRESET"));
    assert.match(String(await failure(cut.done)), /cut/);
  });

  it("150 s of silence end a watch that had bookmarks, not one that never had any", async () => {
    const marked = begin();
    marked.body.write(line("BOOKMARK", ""));
    await marked.clock.settle();
    await marked.clock.advance(149_000);
    marked.body.write(line("ADDED", "a"));
    await marked.clock.advance(149_000);
    marked.clock.advance(2_000);
    assert.match(String(await failure(marked.done)), /sent nothing for 150 s/);

    const unmarked = begin();
    await unmarked.clock.advance(329_000);
    unmarked.clock.advance(2_000);
    assert.match(String(await failure(unmarked.done)), /did not end the watch after 300 s/);
    assert.deepEqual(unmarked.clock.waiting, [], "no timer is left behind");
  });

  it("what the reader throws ends the watch with it", async () => {
    const mine = new Error("mine");
    const { body, done } = begin(() => {
      throw mine;
    });
    body.write(line("ADDED", "a") + line("ADDED", "b"));
    assert.equal(await failure(done), mine);
    assert.ok(body.destroyed);
  });
});

function begin(onEvent?: (event: WatchEvent<RawObject>) => void) {
  const body = new PassThrough();
  const clock = createFakeClock();
  const events: WatchEvent<RawObject>[] = [];
  const done = readWatch(body as unknown as IncomingMessage, {
    operation: { verb: "watch", resource: NODES },
    source: "k",
    timeoutSeconds: 300,
    clock,
    onEvent: onEvent ?? ((event) => events.push(event)),
  });
  done.catch(() => {});
  return { body, clock, events, done };
}

function line(type: string, name: string): string {
  return `${JSON.stringify({ type, object: { metadata: { name, resourceVersion: "2" } } })}\n`;
}

function failure(done: Promise<void>): Promise<unknown> {
  return done.then(
    () => assert.fail("it must reject"),
    (error: unknown) => error,
  );
}
