import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backoff } from "./backoff.ts";
import { StatusError, UnreachableError } from "./errors.ts";

describe("back-off", () => {
  it("is jittered from nothing to a ceiling that doubles from 0.8 to 30 s", () => {
    const overload = new StatusError(500, "InternalError", "x");
    assert.equal(
      backoff(1, overload, () => 0),
      0,
    );
    const ceilings = [1, 2, 3, 4, 5, 6, 7, 100].map((failures) => backoff(failures, overload, () => 1));
    assert.deepEqual(ceilings, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  it("a server that was away is asked again within 3 s, however long it was away", () => {
    const away = new UnreachableError("ECONNREFUSED", "x");
    assert.equal(
      backoff(50, away, () => 1),
      3_000,
    );
  });

  it("K-86: a missing CRD is asked for every 10 s at the most", () => {
    const missing = new StatusError(404, "NotFound", "x");
    assert.equal(
      backoff(50, missing, () => 1),
      10_000,
    );
  });

  it("Retry-After is the least, and what is absurd is cut", () => {
    const asked = (retryAfterMs: number) => new StatusError(429, "TooManyRequests", "x", { retryAfterMs });
    assert.equal(
      backoff(1, asked(4_000), () => 0.5),
      4_400,
    );
    assert.equal(
      backoff(1, asked(86_400_000), () => 0),
      30_000,
    );
  });
});
