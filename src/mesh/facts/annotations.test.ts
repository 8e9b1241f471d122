import assert from "node:assert/strict";
import test from "node:test";
import { node } from "../fixtures.test-kit.ts";
import { ANNOTATIONS, lastSeenOf } from "./annotations.ts";

test("last-seen is Unix seconds; anything else is none, as Kilo reads it", () => {
  const seen = (text: string) =>
    lastSeenOf({ metadata: { name: "n", annotations: { [ANNOTATIONS.lastSeen]: text } } });
  assert.equal(seen("1700000000"), 1_700_000_000);
  for (const text of ["", "-1", "1.5", "junk", "NaN", "1234567890123456"]) assert.equal(seen(text), 0, text);
  assert.equal(lastSeenOf(node({ name: "n", lastSeen: 7 })), 7);
  assert.equal(lastSeenOf({ metadata: { name: "n" } }), 0);
  assert.equal(lastSeenOf(undefined), 0);
});
