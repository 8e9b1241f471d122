import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Freshness } from "./freshness.ts";

describe("freshness", () => {
  it("an own check-in that is older than its period in the first list is a gap", () => {
    assert.equal(new Freshness().look(1_031, 1_000), undefined);
    assert.deepEqual(new Freshness().look(1_032, 1_000), { gapStart: 1_000, listedAt: 1_032 });
  });

  it("a node that never checked in has no gap", () => {
    assert.equal(new Freshness().look(1_000_000, 0), undefined);
  });

  it("silence that is longer than the own check-in's period is a gap for 60 s", () => {
    const freshness = new Freshness();
    freshness.look(1_000, 999);
    assert.equal(freshness.look(1_031, 999), undefined);
    assert.equal(freshness.look(1_031, 999), undefined, "while nothing is heard, time stands still");
    assert.deepEqual(freshness.look(1_090, 1_089), { gapStart: 1_031, listedAt: 1_090 });
    assert.deepEqual(freshness.look(1_119, 1_119), { gapStart: 1_031, listedAt: 1_090 });
    assert.equal(freshness.look(1_150, 1_149), undefined);
  });

  it("a second gap in the grace of the first makes it longer: nobody had time to check in", () => {
    const freshness = new Freshness();
    freshness.look(1_000, 999);
    freshness.look(1_090, 999);
    assert.deepEqual(freshness.look(1_140, 999), { gapStart: 1_000, listedAt: 1_140 });
  });

  it("a gap after the grace of another is its own", () => {
    const freshness = new Freshness();
    freshness.look(1_000, 999);
    for (const at of [1_090, 1_120, 1_150]) freshness.look(at, at);
    assert.deepEqual(freshness.look(1_240, 1_150), { gapStart: 1_150, listedAt: 1_240 });
  });

  it("an API server that takes 2 s for each write does not keep a dead node alive for ever", () => {
    const freshness = new Freshness();
    let starts: number[] = [];
    for (let round = 0; round < 20; round++) {
      const heardAt = 1_000 + round * 32;
      const gap = freshness.look(heardAt, heardAt - 2);
      if (gap !== undefined) starts.push(heardAt - gap.gapStart);
    }
    starts = starts.slice(2);
    assert.ok(starts.length > 10 && starts.every((age) => age <= 64), starts.join());
  });

  it("a clock that was set back by an hour ends the gap", () => {
    const freshness = new Freshness();
    freshness.look(4_600, 1_000);
    assert.notEqual(freshness.look(4_601, 4_601), undefined);
    assert.equal(freshness.look(1_002, 1_002), undefined);
    assert.equal(freshness.look(1_010, 1_002), undefined);
  });
});
