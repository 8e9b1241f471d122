import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listPage, type Page } from "./listing.ts";
import { Registry, type Resource } from "./resources.ts";
import { ApiError } from "./status.ts";
import { Store } from "./store.ts";

const resource = new Registry().find("", "v1", "nodes") as Resource;

function filled(count: number): Store {
  const store = new Store(100);
  for (let index = 0; index < count; index += 1) put(store, `n${index}`, index % 2 === 0 ? "even" : "odd");
  return store;
}

function put(store: Store, name: string, parity: string): void {
  store.put("nodes", { apiVersion: "v1", kind: "Node", metadata: { name, labels: { parity } } });
}

function page(store: Store, query: Record<string, string>): Page {
  return listPage(store, resource, undefined, new URLSearchParams(query));
}

function names(shown: Page): string[] {
  return shown.items.map((item) => item.metadata.name ?? "");
}

describe("paging", () => {
  it("gives all items once, at the revision of the first page, whatever happens in between", () => {
    const store = filled(5);
    const first = page(store, { limit: "2" });
    assert.deepEqual(names(first), ["n0", "n1"]);
    assert.equal(first.remaining, 3);
    store.delete("nodes", "n3");
    put(store, "n2b", "new");
    const second = page(store, { limit: "2", continue: first.next ?? "" });
    const third = page(store, { limit: "2", continue: second.next ?? "" });
    assert.deepEqual([...names(second), ...names(third)], ["n2", "n3", "n4"]);
    assert.equal(third.next, undefined);
    assert.deepEqual([second.revision, third.revision], [first.revision, first.revision]);
  });

  it("a token of forgotten times is answered with 410, and says to start again", () => {
    const store = filled(3);
    const { next = "" } = page(store, { limit: "1" });
    put(store, "n9", "");
    store.compact();
    const isExpired = (error: unknown): boolean =>
      error instanceof ApiError && error.httpStatus === 410 && /start a new list/.test(error.message);
    assert.throws(() => page(store, { limit: "1", continue: next }), isExpired);
  });

  it("pages what a selector selects, without a count of the rest", () => {
    const first = page(filled(6), { limit: "2", labelSelector: "parity=even" });
    assert.deepEqual(names(first), ["n0", "n2"]);
    assert.equal(first.remaining, undefined);
    assert.ok(first.next);
  });

  it("refuses a token it did not make and a version that is no number", () => {
    assert.throws(() => page(filled(1), { continue: "nonsense" }), /continue key is not valid/);
    assert.throws(() => page(filled(1), { resourceVersion: "abc" }), /Invalid value: "abc"/);
  });

  it("lists at an exact revision, and refuses one it has not reached", () => {
    const store = filled(1);
    const then = String(store.revision);
    put(store, "later", "");
    const exact = { resourceVersion: then, resourceVersionMatch: "Exact" };
    assert.deepEqual(names(page(store, exact)), ["n0"]);
    assert.deepEqual(names(page(store, { resourceVersion: then })), ["later", "n0"]);
    assert.throws(() => page(store, { resourceVersion: "999" }), /Too large resource version: 999/);
  });
});
