import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "./json.ts";
import { jsonPatch, mergePatch } from "./patches.ts";
import { ApiError } from "./status.ts";

describe("JSON merge patch (RFC 7396, appendix A)", () => {
  const cases: readonly [Json, Json, Json][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of cases) {
    it(`${JSON.stringify(target)} + ${JSON.stringify(patch)}`, () => {
      const before = JSON.stringify(target);
      assert.deepEqual(mergePatch(target, patch), result);
      assert.equal(JSON.stringify(target), before, "the target was changed");
    });
  }
});

describe("JSON patch (RFC 6902)", () => {
  const target = { metadata: { annotations: { "a/b": "1", "c~d": "2" } }, list: [1, 2] };

  it("adds, removes, replaces, moves, copies and tests", () => {
    const patched = jsonPatch(target, [
      { op: "test", path: "/list/1", value: 2 },
      { op: "add", path: "/list/1", value: 9 },
      { op: "add", path: "/list/-", value: 3 },
      { op: "remove", path: "/list/0" },
      { op: "replace", path: "/metadata/annotations/a~1b", value: "x" },
      { op: "copy", from: "/list", path: "/other" },
      { op: "move", from: "/metadata/annotations/c~0d", path: "/moved" },
    ]);
    assert.deepEqual(patched, {
      metadata: { annotations: { "a/b": "x" } },
      list: [9, 2, 3],
      other: [9, 2, 3],
      moved: "2",
    });
    assert.deepEqual(target.list, [1, 2]);
  });

  const refused: readonly [string, Json, number][] = [
    ["a failed test", [{ op: "test", path: "/list/0", value: 7 }], 422],
    ["removing what is not there", [{ op: "remove", path: "/nothing" }], 422],
    ["an index beyond the end", [{ op: "add", path: "/list/5", value: 1 }], 422],
    ["a missing parent", [{ op: "add", path: "/no/where", value: 1 }], 422],
    ["an unknown operation", [{ op: "merge", path: "/list" }], 400],
    ["a path that is no pointer", [{ op: "add", path: "list", value: 1 }], 400],
    ["a body that is no list", { op: "add" }, 400],
  ];
  for (const [what, patch, httpStatus] of refused) {
    it(`refuses ${what} with ${httpStatus}`, () => {
      const isRefusal = (error: unknown): boolean =>
        error instanceof ApiError && error.httpStatus === httpStatus;
      assert.throws(() => jsonPatch(target, patch), isRefusal);
    });
  }
});
