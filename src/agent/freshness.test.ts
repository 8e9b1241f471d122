import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Freshness } from "./freshness.ts";

describe("freshness", () => {
  it("an own check-in of 60 s ago or more in a new list is a gap", () => {
    const freshness = new Freshness();
    freshness.listed(1_000, 1_059);
    assert.equal(freshness.gap(1_059), undefined);
    freshness.listed(1_000, 1_060);
    assert.deepEqual(freshness.gap(1_100), { gapStart: 1_000, listedAt: 1_060 });
  });

  it("a node that never checked in has no gap", () => {
    const freshness = new Freshness();
    freshness.listed(0, 1_000_000);
    assert.equal(freshness.gap(1_000_000), undefined);
  });

  it("a later list without a gap does not shorten the grace of the one before", () => {
    const freshness = new Freshness();
    freshness.listed(1_000, 1_090);
    freshness.listed(1_091, 1_095);
    assert.deepEqual(freshness.gap(1_140), { gapStart: 1_000, listedAt: 1_090 });
    assert.equal(freshness.gap(1_211), undefined);
  });
});
