import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { createLoop } from "./loop.ts";

describe("agent loop", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "Date"] }));
  afterEach(() => mock.timers.reset());

  it("S-11: a hundred triggers within a second are a few passes, not a hundred", async () => {
    const passes: number[] = [];
    const loop = createLoop({
      pass: async (reasons) => void passes.push(reasons.length),
      onFailure: assert.fail,
    });
    loop.start();
    for (let i = 0; i < 100; i++) {
      loop.trigger(`node ${i}`);
      await advance(10);
    }
    await advance(1_000);
    assert.ok(passes.length >= 2 && passes.length <= 3, `${passes.length} passes`);
    assert.equal(
      passes.reduce((sum, n) => sum + n, 0),
      100,
      "every trigger is seen by exactly one pass",
    );
  });

  it("a trigger during a pass starts another pass after it, never two at once", async () => {
    let running = 0;
    let passes = 0;
    let release: () => void = () => {};
    const loop = createLoop({
      pass: async () => {
        running += 1;
        passes += 1;
        assert.equal(running, 1);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        running -= 1;
      },
      onFailure: assert.fail,
    });
    loop.start();
    loop.trigger("first");
    await advance(100);
    loop.trigger("second");
    await advance(1_000);
    assert.equal(passes, 1);
    release();
    await advance(200);
    assert.equal(passes, 2);
    release();
    await loop.stop();
  });

  it("a failed pass is tried again with a growing, jittered pause and its reasons", async () => {
    const pauses: number[] = [];
    const seen: string[] = [];
    const loop = createLoop({
      pass: async (reasons) => {
        seen.push(reasons.join());
        if (seen.length < 3) throw new Error("no");
      },
      onFailure: (_error, pause) => pauses.push(pause),
      random: () => 0.5,
    });
    loop.start();
    loop.trigger("x");
    await advance(10_000);
    assert.deepEqual(pauses, [500, 1_000]);
    assert.deepEqual(seen, ["x", "x", "x"]);
  });

  it("failures leave one retry behind, however many passes failed: no pass breeds others", async () => {
    let passes = 0;
    const loop = createLoop({
      pass: async () => {
        passes += 1;
        throw new Error("still broken");
      },
      onFailure: () => {},
      random: () => 1,
    });
    loop.start();
    for (let second = 0; second < 600; second++) {
      if (second % 30 === 0) loop.trigger("resync");
      await advance(1_000);
    }
    assert.ok(passes >= 20 && passes <= 50, `${passes} passes in ten minutes`);
    await loop.stop();
  });

  it("stop waits for the pass that runs and starts no other", async () => {
    let ended = false;
    let passes = 0;
    const loop = createLoop({
      pass: async (_reasons, signal) => {
        passes += 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        ended = true;
      },
      onFailure: assert.fail,
    });
    loop.start();
    loop.trigger("x");
    await advance(100);
    await loop.stop();
    assert.equal(ended, true);
    loop.trigger("y");
    await advance(1_000);
    assert.equal(passes, 1);
  });
});

/** Moves the clock in steps of 10 ms and lets promises settle after each. */
async function advance(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 10) {
    mock.timers.tick(10);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
