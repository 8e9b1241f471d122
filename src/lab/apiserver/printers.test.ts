import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { humanDuration } from "./durations.ts";
import type { ApiObject } from "./json.ts";
import { jsonPath } from "./json-path.ts";
import { printerOf } from "./printers.ts";
import { Registry, type Resource } from "./resources.ts";
import { toTable, wantsTable } from "./table.ts";

describe("ages, as kubectl shows them", () => {
  const minute = 60;
  const hour = 60 * minute;
  const day = 24 * hour;
  const cases: readonly [number, string][] = [
    [0, "0s"],
    [119, "119s"],
    [2 * minute, "2m"],
    [2 * minute + 5, "2m5s"],
    [11 * minute + 5, "11m"],
    [3 * hour, "3h"],
    [3 * hour + 59, "3h"],
    [3 * hour + 5 * minute, "3h5m"],
    [9 * hour + 5 * minute, "9h"],
    [47 * hour, "47h"],
    [3 * day + 2 * hour, "3d2h"],
    [30 * day, "30d"],
    [2 * 365 * day + 31 * day, "2y31d"],
  ];
  for (const [seconds, shown] of cases) {
    it(`${seconds} s is ${shown}`, () => assert.equal(humanDuration(seconds * 1000), shown));
  }
});

describe("JSONPath of printer columns", () => {
  const object = {
    spec: { list: [{ a: 1 }, { a: 2 }], "dotted.key": "d" },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  };
  const cases: readonly [string, unknown[]][] = [
    [".spec.list[0].a", [1]],
    [".spec.list[*].a", [1, 2]],
    [".spec.list[-1].a", [2]],
    [".spec.dotted\\.key", ["d"]],
    [".spec['dotted.key']", ["d"]],
    ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
    [".spec.missing.deeper", []],
    ["nonsense", []],
  ];
  for (const [path, values] of cases) {
    it(path, () => assert.deepEqual(jsonPath(object, path), values));
  }
});

describe("tables", () => {
  const nodes = new Registry().find("", "v1", "nodes") as Resource;
  const node: ApiObject = {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "a",
      labels: { "node-role.kubernetes.io/worker": "" },
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { unschedulable: true },
    status: {
      conditions: [{ type: "Ready", status: "True" }],
      addresses: [{ type: "ExternalIP", address: "1.2.3.4" }],
      nodeInfo: { kubeletVersion: "v1.35.0" },
    },
  };
  const now = Date.parse("2026-01-01T00:01:00Z");

  it("a node's row holds what kubectl get -o wide shows", () => {
    const cells = printerOf(nodes).cells(node, now);
    assert.deepEqual(cells.slice(0, 7), [
      ...["a", "Ready,SchedulingDisabled", "worker", "60s", "v1.35.0", "<none>", "1.2.3.4"],
    ]);
  });

  it("every built-in kind has as many cells as columns", () => {
    for (const resource of new Registry().all()) {
      const printer = printerOf(resource);
      assert.equal(printer.cells(node, now).length, printer.columns.length, resource.plural);
    }
  });

  it("a row carries as much of the object as was asked for", () => {
    const rowObject = (include: "None" | "Metadata" | "Object"): unknown =>
      (toTable(nodes, [node], {}, include, now).rows as { object: unknown }[])[0]?.object;
    assert.equal(rowObject("None"), null);
    assert.deepEqual(rowObject("Object"), node);
    assert.deepEqual(Object.keys(rowObject("Metadata") as object), ["kind", "apiVersion", "metadata"]);
  });

  it("is served when the client prefers it, not when it only would take it", () => {
    assert.ok(wantsTable("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"));
    assert.ok(!wantsTable("application/json"));
    assert.ok(!wantsTable("application/json, application/json;as=Table;v=v1;g=meta.k8s.io"));
  });
});
