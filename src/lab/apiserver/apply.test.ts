import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { serverSideApply } from "./apply.ts";
import type { JsonMap } from "./json.ts";
import { builtInLists, schemaLists } from "./list-kinds.ts";

describe("server-side apply", () => {
  it("merges maps, replaces atomic lists, and leaves what others set", () => {
    const live = { metadata: { labels: { theirs: "1" } }, spec: { allowedIPs: ["a", "b"], port: 1 } };
    const wanted = { metadata: { labels: { mine: "2" } }, spec: { allowedIPs: ["c"] } };
    assert.deepEqual(serverSideApply(live, undefined, wanted, builtInLists), {
      metadata: { labels: { theirs: "1", mine: "2" } },
      spec: { allowedIPs: ["c"], port: 1 },
    });
  });

  it("removes what the same manager applied before and no longer names", () => {
    const before = {
      metadata: { labels: { mine: "2", old: "3" } },
      spec: { port: 1, endpoint: { ip: "x" } },
    };
    const live = {
      metadata: { labels: { mine: "2", old: "3", theirs: "1" } },
      spec: { port: 1, endpoint: { ip: "x" } },
    };
    const wanted = { metadata: { labels: { mine: "2" } }, spec: { port: 1 } };
    assert.deepEqual(serverSideApply(live, before, wanted, builtInLists), {
      metadata: { labels: { mine: "2", theirs: "1" } },
      spec: { port: 1 },
    });
  });

  it("owns items of keyed lists one by one, and fields inside them", () => {
    const condition = (type: string, more: JsonMap = {}): JsonMap => ({ type, status: "True", ...more });
    const live = {
      status: { conditions: [condition("Mine", { reason: "r" }), condition("Old"), condition("Theirs")] },
    };
    const before = { status: { conditions: [condition("Mine", { reason: "r" }), condition("Old")] } };
    const wanted = { status: { conditions: [condition("Mine"), condition("New")] } };
    assert.deepEqual(serverSideApply(live, before, wanted, builtInLists), {
      status: { conditions: [condition("Mine"), condition("Theirs"), condition("New")] },
    });
  });

  it("takes the list kinds of a CRD from its schema", () => {
    const list = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
    const items = {
      type: "object",
      properties: { ports: { type: "array", "x-kubernetes-list-type": "set" } },
    };
    const schema = {
      properties: { spec: { properties: { peers: { ...list, items }, plain: { type: "array" } } } },
    };
    const lists = schemaLists(schema);
    assert.deepEqual(lists(["spec", "peers"]), ["name"]);
    assert.equal(lists(["spec", "peers", "ports"]), "set");
    assert.equal(lists(["spec", "plain"]), "atomic");
    assert.equal(lists(["metadata", "finalizers"]), "set");
  });
});
