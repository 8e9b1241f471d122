/** What `make prove` makes of a measurement. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Claim, type ClaimKind, check, judge, median } from "../../bench/claims/claim.ts";

describe("claims", () => {
  it("a wrong count fails; a slow time is a miss, and fails beyond three times the goal", () => {
    assert.deepEqual(outcome("count", 0, 0), { holds: true, fatal: false });
    assert.deepEqual(outcome("count", 0, 1), { holds: false, fatal: true });
    assert.deepEqual(outcome("time", 2, 2), { holds: true, fatal: false });
    assert.deepEqual(outcome("time", 2, 6), { holds: false, fatal: false });
    assert.deepEqual(outcome("size", 2, 6.1), { holds: false, fatal: true });
  });

  it("a ratio has to reach its goal, and fails 10 % below it", () => {
    assert.deepEqual(outcome("ratio", 100, 101), { holds: true, fatal: false });
    assert.deepEqual(outcome("ratio", 100, 90), { holds: false, fatal: false });
    assert.deepEqual(outcome("ratio", 100, 89), { holds: false, fatal: true });
  });

  it("the median counts, and nothing measured is no median", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2);
    assert.throws(() => median([]), RangeError);
    assert.throws(() => median([1, Number.NaN, 2]), RangeError);
  });

  it("prints a line with what was measured beside the goal", async () => {
    const claim = (measured: readonly number[]): Claim => {
      return { name: "start", kind: "time", goal: 2, unit: "s", measure: async () => measured };
    };
    assert.equal((await check(claim([9, 1.5, 1]))).line, "ok    start: 1.50 s (under 2 s)");
    assert.equal((await check(claim([9, 8, 1]))).line, "MISS  start: 8 s (under 2 s)");
  });

  it("what cannot be measured does not hold, and says why", async () => {
    const measure = async () => {
      throw new Error("no lab");
    };
    const verdict = await check({ name: "start", kind: "time", goal: 2, unit: "s", measure });
    assert.equal(verdict.fatal, true);
    assert.equal(verdict.line, "MISS  start: cannot be measured: no lab");
  });
});

function outcome(kind: ClaimKind, goal: number, measured: number) {
  const { holds, fatal } = judge({ name: "it", kind, goal, unit: "" }, measured);
  return { holds, fatal };
}
