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
});
