/** The record of names and numbers says what the code says. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as names from "../../src/mesh/names.ts";
import { read } from "./sources.ts";

describe("names and numbers", () => {
  it("each constant stands in docs/decisions/0003", () => {
    const record = read("docs/decisions/0003-names-and-numbers.md");
    const values = Object.entries(names).filter(([, value]) => ["string", "number"].includes(typeof value));
    assert.ok(values.length >= 8, "constants are missing");
    for (const [name, value] of values)
      assert.ok(record.includes(String(value)), `${name} (${value}) is not in the record`);
  });
});
