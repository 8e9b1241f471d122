import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ApiObject } from "./json.ts";
import { ApiError } from "./status.ts";
import { Store, type StoredEvent } from "./store.ts";

function node(name: string, value = ""): ApiObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { value } } };
}

function seen(store: Store, revision: number): string[] {
  const events: StoredEvent[] = [];
  store.subscribe("nodes", revision, (event) => events.push(event));
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`);
}

const hasStatus = (httpStatus: number) => (error: unknown) =>
  error instanceof ApiError && error.httpStatus === httpStatus;

describe("the store", () => {
  it("gives every write the next revision, whatever its resource", () => {
    const store = new Store(10);
    const a = store.put("nodes", node("a"));
    const b = store.put("others", node("b"));
    const gone = store.delete("nodes", "a");
    const revisions = [a, b, gone].map((object) => Number(object?.metadata.resourceVersion));
    assert.deepEqual(revisions, [2, 3, 4]);
    assert.equal(store.revision, 4);
  });

  it("replays the events after a revision, then sends what comes", () => {
    const store = new Store(10);
    const { resourceVersion } = store.put("nodes", node("a")).metadata;
    store.put("nodes", node("b"));
    store.put("nodes", node("a", "changed"));
    store.delete("nodes", "b");
    const events: string[] = [];
    const end = store.subscribe("nodes", Number(resourceVersion), ({ type, object }) => {
      events.push(`${type} ${object.metadata.name}`);
    });
    store.put("nodes", node("c"));
    end();
    store.put("nodes", node("d"));
    assert.deepEqual(events, ["ADDED b", "MODIFIED a", "DELETED b", "ADDED c"]);
  });

  it("remembers a bounded number of events; from before them it answers 410", () => {
    const store = new Store(2);
    for (const name of ["a", "b", "c"]) store.put("nodes", node(name));
    assert.throws(() => seen(store, 1), hasStatus(410));
    assert.deepEqual(seen(store, 2), ["ADDED b", "ADDED c"]);
  });

  it("a resource without events stays resumable while others forget theirs", () => {
    const store = new Store(2);
    for (const name of ["a", "b", "c"]) store.put("others", node(name));
    assert.deepEqual(seen(store, 1), []);
  });

  it("after compact only the present is left, also for resources it had not seen", () => {
    const store = new Store(10);
    store.put("nodes", node("a"));
    store.compact();
    assert.throws(() => seen(store, 1), hasStatus(410));
    assert.throws(() => store.list("peers", 1), hasStatus(410));
    assert.deepEqual(seen(store, 2), []);
  });

  it("lists as it was at an older revision", () => {
    const store = new Store(10);
    store.put("nodes", node("a", "old"));
    store.put("nodes", node("b"));
    const then = store.revision;
    store.put("nodes", node("a", "new"));
    store.delete("nodes", "b");
    store.put("nodes", node("c"));
    const values = store.list("nodes", then).map(([key, { metadata }]) => `${key}=${metadata.labels?.value}`);
    assert.deepEqual(values, ["a=old", "b="]);
    assert.deepEqual(
      store.list("nodes").map(([key]) => key),
      ["a", "c"],
    );
  });

  it("a revision from the future is refused", () => {
    assert.throws(() => new Store(1).list("nodes", 99), hasStatus(504));
  });
});
