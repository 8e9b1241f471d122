import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonMap } from "./json.ts";
import { builtInLists } from "./list-kinds.ts";
import { strategicMerge } from "./strategic-merge.ts";

const node: JsonMap = {
  metadata: { labels: { a: "1", b: "2" }, finalizers: ["one", "two"] },
  spec: { taints: [{ key: "x", effect: "NoSchedule" }] },
  status: {
    conditions: [
      { type: "Ready", status: "False", reason: "Starting" },
      { type: "DiskPressure", status: "False" },
    ],
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  },
};

function merged(patch: JsonMap): JsonMap {
  return strategicMerge(node, patch, builtInLists);
}

describe("strategic merge patch", () => {
  it("merges labels and removes those that are null", () => {
    const { labels } = merged({ metadata: { labels: { a: null, c: "3" } } }).metadata as JsonMap;
    assert.deepEqual(labels, { b: "2", c: "3" });
  });

  it("merges conditions and addresses by type, as the kubelet relies on", () => {
    const patch = {
      conditions: [{ type: "Ready", status: "True" }],
      addresses: [{ type: "Hostname", address: "n" }],
    };
    assert.deepEqual(merged({ status: patch }).status, {
      conditions: [
        { type: "Ready", status: "True", reason: "Starting" },
        { type: "DiskPressure", status: "False" },
      ],
      addresses: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "Hostname", address: "n" },
      ],
    });
  });

  it("deletes an item by $patch: delete", () => {
    const status = merged({ status: { conditions: [{ $patch: "delete", type: "Ready" }] } })
      .status as JsonMap;
    assert.deepEqual(status.conditions, [{ type: "DiskPressure", status: "False" }]);
  });

  it("replaces a keyed list by $patch: replace, and a map likewise", () => {
    const conditions = [{ $patch: "replace" }, { type: "New", status: "True" }];
    const status = merged({ status: { conditions } }).status as JsonMap;
    assert.deepEqual(status.conditions, [{ type: "New", status: "True" }]);
    const { labels } = merged({ metadata: { labels: { $patch: "replace", z: "9" } } }).metadata as JsonMap;
    assert.deepEqual(labels, { z: "9" });
  });

  it("replaces a list without merge key whole (taints)", () => {
    const spec = merged({ spec: { taints: [{ key: "y" }] } }).spec as JsonMap;
    assert.deepEqual(spec.taints, [{ key: "y" }]);
  });

  it("adds to and deletes from a list of scalars", () => {
    const added = merged({ metadata: { finalizers: ["two", "three"] } }).metadata as JsonMap;
    assert.deepEqual(added.finalizers, ["one", "two", "three"]);
    const patch = { "$deleteFromPrimitiveList/finalizers": ["one"], "$setElementOrder/finalizers": ["two"] };
    const metadata = merged({ metadata: patch }).metadata as JsonMap;
    assert.deepEqual(metadata.finalizers, ["two"]);
    assert.deepEqual(Object.keys(metadata).sort(), ["finalizers", "labels"]);
  });
});
