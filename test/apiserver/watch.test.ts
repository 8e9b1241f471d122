/** Watches over HTTP: where they start, what they send, how they end. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type ApiServer, type JsonMap, startApiServer } from "../../src/lab/apiserver/index.ts";
import { send, Watcher } from "./client.ts";

const NODES = "/api/v1/nodes";

describe("watches", () => {
  let server: ApiServer;
  before(async () => {
    server = await startApiServer({ bookmarkInterval: 50, historyLength: 20, maxBuffered: 64 * 1024 });
  });
  after(() => server.close());

  const put = (name: string, labels: JsonMap = {}): string =>
    server.put({ apiVersion: "v1", kind: "Node", metadata: { name, labels } }).metadata.resourceVersion ?? "";
  const remove = (name: string): boolean => server.delete({ apiVersion: "v1", kind: "Node", name });
  const open = (query: string): Promise<Watcher> => Watcher.open(server, `${NODES}?watch=true${query}`);

  it("from a resourceVersion: what came after it, then what comes", async () => {
    const from = put("a");
    put("b");
    const watcher = await open(`&resourceVersion=${from}`);
    put("a", { changed: "1" });
    remove("b");
    assert.deepEqual(await watcher.names(3), ["ADDED b", "MODIFIED a", "DELETED b"]);
    watcher.close();
  });

  it("without a resourceVersion: everything there is, first", async () => {
    const watcher = await open("");
    assert.deepEqual(await watcher.names(1), ["ADDED a"]);
    put("c");
    assert.deepEqual(await watcher.names(1), ["ADDED c"]);
    remove("c");
    watcher.close();
  });

  it("an object that enters or leaves the selection is added or deleted", async () => {
    const watcher = await open(`&resourceVersion=${server.revision()}&labelSelector=zone%3Deu`);
    put("z", { zone: "us" });
    put("z", { zone: "eu" });
    put("z", { zone: "eu", more: "1" });
    const last = put("z", { zone: "us" });
    assert.deepEqual(await watcher.names(2), ["ADDED z", "MODIFIED z"]);
    const { type, object } = await watcher.next();
    const metadata = object.metadata as JsonMap;
    assert.deepEqual(
      [type, (metadata.labels as JsonMap).zone, metadata.resourceVersion],
      ["DELETED", "eu", last],
    );
    remove("z");
    watcher.close();
  });

  it("a single object is watched by its name", async () => {
    const watcher = await open(`&resourceVersion=${server.revision()}&fieldSelector=metadata.name%3Dsingle`);
    put("other");
    put("single");
    assert.deepEqual(await watcher.names(1), ["ADDED single"]);
    for (const name of ["other", "single"]) remove(name);
    watcher.close();
  });

  it("WatchList: the initial events end with a marked bookmark", async () => {
    const query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const watcher = await open(query);
    assert.deepEqual(await watcher.names(1), ["ADDED a"]);
    const { type, object } = await watcher.next();
    const { annotations, resourceVersion } = object.metadata as JsonMap;
    assert.deepEqual([type, object.kind], ["BOOKMARK", "Node"]);
    assert.deepEqual(annotations, { "k8s.io/initial-events-end": "true" });
    assert.equal(resourceVersion, String(server.revision()));
    watcher.close();
    const refused = await send(server, "GET", `${NODES}?watch=true&sendInitialEvents=true`);
    assert.equal(refused.status, 422);
  });

  it("bookmarks come when they were asked for, at the newest revision", async () => {
    const watcher = await open(`&resourceVersion=${server.revision()}&allowWatchBookmarks=true`);
    server.put({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m", namespace: "default" } });
    const { type, object } = await watcher.next();
    assert.equal(type, "BOOKMARK");
    assert.equal((object.metadata as JsonMap).resourceVersion, String(server.revision()));
    assert.equal((object.metadata as JsonMap).annotations, undefined);
    watcher.close();
  });

  it("from before the remembered events: an ERROR event with code 410, and the end", async () => {
    const from = put("old");
    for (let count = 0; count < 25; count += 1) put("old", { count: String(count) });
    const early = await open(`&resourceVersion=${from}`);
    const { type, object } = await early.next();
    assert.deepEqual([type, object.kind, object.reason, object.code], ["ERROR", "Status", "Expired", 410]);
    await early.ended();
    const fresh = String(server.revision());
    put("old", { again: "1" });
    server.compact();
    const compacted = await open(`&resourceVersion=${fresh}`);
    assert.equal((await compacted.next()).object.code, 410);
    const future = await open("&resourceVersion=999999");
    assert.equal((await future.next()).object.code, 410);
    remove("old");
  });

  it("the same as HTTP status 410, where that is asked for", async () => {
    const other = await startApiServer({ expiredWatch: "status" });
    const from = String(other.revision());
    other.put({ apiVersion: "v1", kind: "Node", metadata: { name: "a" } });
    other.compact();
    const refused = await send(other, "GET", `${NODES}?watch=true&resourceVersion=${from}`);
    assert.deepEqual([refused.status, refused.body.reason, refused.body.code], [410, "Expired", 410]);
    await other.close();
  });

  it("ends after timeoutSeconds, and when the server drops its watches", async () => {
    const short = await open("&timeoutSeconds=1");
    const long = await open("&timeoutSeconds=99999999");
    await short.ended();
    server.dropWatches();
    await long.ended();
    assert.equal(server.stats().clients.unknown?.watches, 0);
  });

  it("a watcher that does not read is cut when too much waits for it", async () => {
    const slow = await open(`&resourceVersion=${server.revision()}`);
    const other = await open(`&resourceVersion=${server.revision()}`);
    slow.stall();
    const bulk = { text: "x".repeat(200_000) };
    for (let count = 0; count < 60; count += 1) {
      const metadata = { name: "bulk", annotations: { ...bulk, count: String(count) } };
      server.put({ apiVersion: "v1", kind: "Node", metadata });
      await other.next();
    }
    slow.readOn();
    await slow.ended();
    remove("bulk");
    assert.deepEqual(await other.names(1), ["DELETED bulk"], "the one that reads was cut too");
    other.close();
  });

  it("events of a Table watch hold a row each", async () => {
    const headers = { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" };
    const path = `${NODES}?watch=true&resourceVersion=${server.revision()}`;
    const watcher = await Watcher.open(server, path, { headers });
    put("row");
    const { object } = await watcher.next();
    assert.equal(object.kind, "Table");
    assert.equal((object.rows as unknown[]).length, 1);
    watcher.close();
  });
});
