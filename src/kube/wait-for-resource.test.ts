import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StatusError } from "./errors.ts";
import { createFakeClock } from "./fake-clock.test-kit.ts";
import { waitForPeersResource } from "./wait-for-resource.ts";

describe("waiting for the Peer resource", () => {
  it("K-09, K-86: a CRD that is missing for the first lists is waited for and told, not died of", async () => {
    const clock = createFakeClock();
    const pauses: number[] = [];
    let lists = 0;
    const waiting = waitForPeersResource({
      client: {
        listPage: async () => {
          lists += 1;
          if (lists <= 3) throw new StatusError(404, "NotFound", "no CRD");
          return { items: [], resourceVersion: "1" };
        },
      },
      onWaiting: (_error, retryInMs) => pauses.push(retryInMs),
      clock,
      random: () => 1,
    });
    await clock.advance(30_000);
    await waiting;
    assert.deepEqual(pauses, [800, 1_600, 3_200]);
  });

  it("ends with the signal's reason", async () => {
    const abort = new AbortController();
    const clock = createFakeClock();
    const waiting = waitForPeersResource({
      client: { listPage: () => Promise.reject(new StatusError(404, "NotFound", "no CRD")) },
      signal: abort.signal,
      clock,
    });
    await clock.settle();
    abort.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    assert.deepEqual(clock.waiting, []);
  });
});
