import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UsageError } from "../errors.ts";
import { resolveByTable } from "./names.ts";
import { newestLastSeen, readNow } from "./time.ts";

describe("--resolve", () => {
  it("answers in the order given, and knows nothing else", () => {
    const resolve = resolveByTable(["a.example=192.0.2.1", "a.example=2001:db8::1"]);
    assert.deepEqual(
      resolve("a.example")?.map(({ text }) => text),
      ["192.0.2.1", "2001:db8::1"],
    );
    assert.equal(resolve("b.example"), undefined);
  });

  it("refuses what is not NAME=IP", () => {
    for (const bad of ["a.example", "=1.2.3.4", "a.example=", "a.example=b.example", "A.example=1.2.3.4"]) {
      assert.throws(() => resolveByTable([bad]), UsageError, bad);
    }
  });
});

describe("--now", () => {
  it("is Unix seconds or RFC 3339", () => {
    assert.equal(readNow("1700000000"), 1_700_000_000);
    assert.equal(readNow("2023-11-14T22:13:20Z"), 1_700_000_000);
    assert.equal(readNow("2023-11-14T23:13:20.9+01:00"), 1_700_000_000);
    for (const bad of ["", "now", "-1", "2023-11-14", "2023-13-14T22:13:20Z"]) {
      assert.throws(() => readNow(bad), UsageError, bad);
    }
  });

  it("is by default the newest last-seen", () => {
    const nodes = ["17", "junk", "23", undefined].map((seen) => ({
      metadata: { name: "n", annotations: seen === undefined ? {} : { "kilo.squat.ai/last-seen": seen } },
    }));
    assert.equal(newestLastSeen(nodes), 23);
    assert.equal(newestLastSeen([]), 0);
  });
});
