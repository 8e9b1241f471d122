/** Watches: order of events, bookmarks, ends, and versions that are too old. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  isExpired,
  isNotFound,
  LEASES,
  NODES,
  type RawObject,
  SECRETS,
  type SecretObject,
  type WatchEvent,
  type WatchOptions,
} from "../../../src/kube/index.ts";
import type { ServerUnderTest } from "../kube.ts";
import { eventually, openWorkplace, type Workplace } from "./workplace.ts";

/** A real server sends its last bookmark two seconds before the end of a watch. */
const SHORT_WATCH_SECONDS = 5;

export function watchContract(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(`${name}: watches`, () => {
    let place: Workplace;
    before(async () => {
      place = await openWorkplace(open);
    });
    after(() => place.close());

    it("every change after the list's version comes, in order, and a deletion with the last state", async () => {
      const { resourceVersion } = await list();
      await place.createNodes("a");
      const patched = await annotate("a", "1");
      await place.client.delete(NODES, place.name("a"));
      const watch = begin({ resourceVersion });
      await eventually("three events", () => watch.changes().length === 3);
      assert.deepEqual(
        watch.changes().map((event) => event.type),
        ["ADDED", "MODIFIED", "DELETED"],
      );
      const [added, modified, deleted] = watch.changes().map((event) => event.object.metadata);
      assert.equal(modified?.resourceVersion, patched.metadata.resourceVersion);
      assert.equal(deleted?.annotations?.["kilo.squat.ai/a"], "1");
      assert.equal(new Set([added, modified, deleted].map((metadata) => metadata?.uid)).size, 1);
      assert.equal(new Set([added, modified, deleted].map((metadata) => metadata?.resourceVersion)).size, 3);
      await watch.stop();
    });

    it("goes on from any event without losing or repeating one", async () => {
      await place.createNodes("b");
      const { resourceVersion } = await list();
      await annotate("b", "1");
      const first = begin({ resourceVersion });
      await eventually("the first event", () => first.changes().length === 1);
      await first.stop();
      await annotate("b", "2");
      const second = begin({ resourceVersion: first.changes()[0]?.object.metadata.resourceVersion });
      await annotate("b", "3");
      await eventually("two events", () => second.changes().length === 2);
      assert.deepEqual(
        second.changes().map((event) => event.object.metadata.annotations?.["kilo.squat.ai/a"]),
        ["2", "3"],
      );
      await second.stop();
    });

    it("bookmarks come before the server ends the watch in order, and a watch goes on from them", async () => {
      const { resourceVersion } = await list();
      const watch = begin({ resourceVersion, timeoutSeconds: SHORT_WATCH_SECONDS });
      await watch.done;
      const bookmark = watch.events.filter((event) => event.type === "BOOKMARK").at(-1);
      assert.ok(bookmark?.object.metadata.resourceVersion, "no bookmark came");
      const next = begin({ resourceVersion: bookmark.object.metadata.resourceVersion });
      await place.createNodes("c");
      await eventually("the event after the bookmark", () => next.changes().length === 1);
      await next.stop();
    });

    it("watches of one namespace and of all of them see namespaced objects", async () => {
      const { labelSelector, client } = place;
      const { resourceVersion } = await client.list(LEASES, { labelSelector });
      await place.create(LEASES, { metadata: { ...place.metadata("l"), namespace: "default" } });
      const seen: string[] = [];
      const abort = new AbortController();
      for (const namespace of ["default", undefined, "kube-system"]) {
        const options = {
          labelSelector,
          namespace,
          resourceVersion,
          timeoutSeconds: 60,
          signal: abort.signal,
        };
        client
          .watch(LEASES, { ...options, onEvent: ({ type }) => seen.push(`${namespace} ${type}`) })
          .catch(() => {});
      }
      await eventually(
        "two of three watches see it",
        () => seen.filter((each) => each.endsWith("ADDED")).length === 2,
      );
      abort.abort();
      assert.deepEqual(seen.filter((each) => each.endsWith("ADDED")).sort(), [
        "default ADDED",
        "undefined ADDED",
      ]);
    });

    it("a version that is too old is told as 410, by status or by event", async () => {
      const { resourceVersion } = await list();
      await place.createNodes("d");
      await annotate("d", "1");
      await place.server.expire();
      await assert.rejects(begin({ resourceVersion }).done, isExpired);
    });

    it("a resource that does not exist is told as 404", async () => {
      const ghosts = {
        group: "kilomesh.io",
        version: "v1",
        plural: "ghosts",
        kind: "Ghost",
        namespaced: false,
      };
      const options = { resourceVersion: "1", timeoutSeconds: 60, onEvent: () => {} };
      await assert.rejects(place.client.watch(ghosts, options), isNotFound);
    });

    it("an object of a megabyte comes through whole, and so do characters of several bytes", async () => {
      const { client, labelSelector } = place;
      const metadata = {
        ...place.metadata("e"),
        namespace: "default",
        annotations: { "kilomesh.io/a": "ä€😀".repeat(10_000) },
      };
      const data = { key: Buffer.alloc(700_000, 7).toString("base64") };
      const { resourceVersion } = await client.list(SECRETS, { labelSelector, namespace: "default" });
      await place.create(SECRETS, { metadata, data });
      const abort = new AbortController();
      const seen: SecretObject[] = [];
      const onEvent = (event: WatchEvent<SecretObject>) => seen.push(event.object);
      const options = {
        labelSelector,
        namespace: "default",
        resourceVersion,
        timeoutSeconds: 60,
        signal: abort.signal,
      };
      client.watch(SECRETS, { ...options, onEvent }).catch(() => {});
      await eventually("the large object", () => seen.some((secret) => secret.data !== undefined));
      abort.abort();
      const secret = seen.find((each) => each.data !== undefined);
      assert.deepEqual(secret?.data, data);
      assert.deepEqual(secret?.metadata.annotations, metadata.annotations);
    });

    const list = () => place.client.list(NODES, { labelSelector: place.labelSelector });
    const annotate = (suffix: string, value: string) =>
      place.client.patch(
        NODES,
        place.name(suffix),
        { metadata: { annotations: { "kilo.squat.ai/a": value } } },
        { kind: "strategic" },
      );

    /** A watch of this group's nodes that remembers its events. */
    function begin(options: Partial<WatchOptions<RawObject>>) {
      const events: WatchEvent<RawObject>[] = [];
      const abort = new AbortController();
      const done = place.client.watch(NODES, {
        labelSelector: place.labelSelector,
        timeoutSeconds: 60,
        signal: abort.signal,
        onEvent: (event) => events.push(event),
        ...options,
      });
      done.catch(() => {});
      return {
        events,
        done,
        changes: () => events.filter((event) => event.type !== "BOOKMARK"),
        async stop() {
          abort.abort();
          await done.catch(() => {});
        },
      };
    }
  });
}
