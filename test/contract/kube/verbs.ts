/** Get, list, create, patch and delete, and how each is refused. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  EVENTS,
  isConflict,
  isExpired,
  isNotFound,
  LEASES,
  NODES,
  PEERS,
  type RawObject,
  SECRETS,
  StatusError,
} from "../../../src/kube/index.ts";
import type { ServerUnderTest } from "../kube.ts";
import { openWorkplace, peerSpec, type Workplace } from "./workplace.ts";

export function verbContract(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(`${name}: verbs`, () => {
    let place: Workplace;
    before(async () => {
      place = await openWorkplace(open);
    });
    after(() => place.close());

    it("what was created is read back, with uid and version, by get and by list", async () => {
      const { client, labelSelector } = place;
      const created = await place.create(PEERS, { metadata: place.metadata("p"), spec: peerSpec() });
      assert.ok(
        created.metadata.uid && created.metadata.resourceVersion && created.metadata.creationTimestamp,
      );
      const read = await client.get(PEERS, place.name("p"));
      assert.deepEqual(read.spec, peerSpec());
      assert.equal(read.metadata.resourceVersion, created.metadata.resourceVersion);
      const list = await client.list(PEERS, { labelSelector });
      assert.deepEqual(
        list.items.map((item) => item.metadata.uid),
        [created.metadata.uid],
      );
    });

    it("leases, events and secrets live in namespaces", async () => {
      const namespace = "default";
      const metadata = { ...place.metadata("n"), namespace };
      await place.create(LEASES, { metadata, spec: { holderIdentity: "me", leaseDurationSeconds: 15 } });
      await place.create(SECRETS, { metadata, data: { key: "dmFsdWU=" } });
      await place.create(EVENTS, {
        metadata,
        involvedObject: { kind: "Node", name: "x" },
        type: "Warning",
        reason: "BadKey",
        message: "the key is bad",
      });
      const lease = await client().get(LEASES, metadata.name, { namespace });
      assert.equal(lease.spec?.holderIdentity, "me");
      const secret = await client().get(SECRETS, metadata.name, { namespace });
      assert.deepEqual(secret.data, { key: "dmFsdWU=" });
      const events = await client().list(EVENTS, { labelSelector: place.labelSelector });
      assert.deepEqual(
        events.items.map((event) => event.reason),
        ["BadKey"],
      );
      await assert.rejects(client().get(LEASES, metadata.name, { namespace: "kube-system" }), isNotFound);
    });

    it("a list comes in pages of one version, each object once", async () => {
      const { labelSelector } = place;
      await place.createNodes("p1", "p2", "p3", "p4", "p5");
      const names: string[] = [];
      const versions = new Set<string>();
      let token: string | undefined;
      let pages = 0;
      do {
        const page = await client().listPage(NODES, { labelSelector, limit: 2, continue: token });
        names.push(...page.items.map((item) => item.metadata.name));
        versions.add(page.resourceVersion);
        token = page.continue;
        pages += 1;
      } while (token !== undefined && pages < 100);
      assert.deepEqual(names, ["p1", "p2", "p3", "p4", "p5"].map(place.name));
      assert.equal(versions.size, 1);
      assert.ok(pages >= 3, `${pages} pages`);
    });

    it("a continue token that is too old is refused with 410", async () => {
      const { labelSelector } = place;
      await place.createNodes("e1", "e2");
      const page = await client().listPage(NODES, { labelSelector, limit: 1 });
      assert.ok(page.continue);
      await client().patch(NODES, place.name("e1"), annotate({ a: "1" }), { kind: "merge" });
      await place.server.expire();
      await assert.rejects(
        client().listPage(NODES, { labelSelector, limit: 1, continue: page.continue }),
        isExpired,
      );
    });

    it("each kind of patch does what it is for", async () => {
      await place.createNodes("x");
      const node = place.name("x");
      const patch = (body: unknown, kind: "merge" | "strategic" | "json") =>
        client().patch(NODES, node, body, { kind });
      await patch(annotate({ a: "1", b: "2" }), "merge");
      await patch(annotate({ b: null, c: "3" }), "strategic");
      assert.deepEqual(ours(await client().get(NODES, node)), { a: "1", c: "3" });
      await patch([{ op: "remove", path: "/metadata/annotations/kilo.squat.ai~1a" }], "json");
      assert.deepEqual(ours(await client().get(NODES, node)), { c: "3" });
    });

    it("server-side apply creates, and takes away what it does not say any more", async () => {
      const metadata = place.metadata("apply");
      const apply = (extra: object) =>
        client().patch(
          PEERS,
          metadata.name,
          { apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer", metadata, spec: { ...peerSpec(), ...extra } },
          { kind: "apply", fieldManager: "contract", force: true },
        );
      await apply({ persistentKeepalive: 10 });
      await apply({});
      assert.deepEqual((await client().get(PEERS, metadata.name)).spec, peerSpec());
      await client().delete(PEERS, metadata.name);
    });

    it("status is written apart from the rest", async () => {
      await place.createNodes("s");
      const addresses = [{ type: "InternalIP", address: "10.0.0.1" }];
      const options = { kind: "merge" } as const;
      await client().patchStatus(NODES, place.name("s"), { status: { addresses } }, options);
      await client().patch(
        NODES,
        place.name("s"),
        { status: { addresses: [] }, ...annotate({ a: "1" }) },
        options,
      );
      const node = await client().get(NODES, place.name("s"));
      assert.deepEqual((node.status as { addresses?: unknown }).addresses, addresses);
      assert.deepEqual(ours(node), { a: "1" });
    });

    it("404 for what is not there, 409 for a name that is taken and a version that is old", async () => {
      await place.createNodes("o");
      const name = place.name("o");
      await assert.rejects(client().get(NODES, place.name("none")), isNotFound);
      await assert.rejects(client().delete(NODES, place.name("none")), isNotFound);
      await assert.rejects(client().patch(NODES, place.name("none"), {}, { kind: "merge" }), isNotFound);
      await assert.rejects(
        client().create(NODES, { metadata: place.metadata("o") }),
        (error) => isConflict(error) && (error as StatusError).code === "AlreadyExists",
      );
      const old = (await client().get(NODES, name)).metadata.resourceVersion;
      await client().patch(NODES, name, annotate({ a: "1" }), { kind: "merge" });
      const stale = { metadata: { resourceVersion: old, annotations: { "kilo.squat.ai/a": "2" } } };
      await assert.rejects(
        client().patch(NODES, name, stale, { kind: "merge" }),
        (error) => isConflict(error) && (error as StatusError).code === "Conflict",
      );
      assert.deepEqual(ours(await client().get(NODES, name)), { a: "1" });
    });

    it("a delete for another uid is refused, one for this uid is done", async () => {
      const [node] = await place.createNodes("d");
      const uid = node?.metadata.uid;
      await assert.rejects(client().delete(NODES, place.name("d"), { uid: "other" }), isConflict);
      await client().delete(NODES, place.name("d"), { uid });
      await assert.rejects(client().get(NODES, place.name("d")), isNotFound);
    });

    it("what the schema forbids, what no patch can do and what a CRD cannot take is refused by name", async () => {
      const peer = { metadata: place.metadata("bad"), spec: { publicKey: "x" } };
      await refusedWith(client().create(PEERS, peer), 422, /allowedIPs/);
      await place.create(PEERS, { metadata: place.metadata("good"), spec: peerSpec() });
      const good = place.name("good");
      await refusedWith(
        client().patch(PEERS, good, { spec: { allowedIPs: "x" } }, { kind: "merge" }),
        422,
        /allowedIPs/,
      );
      await refusedWith(client().patch(PEERS, good, { spec: {} }, { kind: "strategic" }), 415, /./);
      const test = [{ op: "test", path: "/spec/publicKey", value: "other" }];
      await refusedWith(client().patch(PEERS, good, test, { kind: "json" }), 422, /./);
      assert.deepEqual((await client().get(PEERS, good)).spec, peerSpec());
    });

    const client = () => place.client;
  });
}

function annotate(values: Readonly<Record<string, string | null>>): object {
  const entries = Object.entries(values).map(([name, value]) => [`kilo.squat.ai/${name}`, value]);
  return { metadata: { annotations: Object.fromEntries(entries) } };
}

/** The annotations that these tests write. */
function ours(node: RawObject): Record<string, string> {
  const entries = Object.entries(node.metadata.annotations ?? {});
  return Object.fromEntries(
    entries
      .filter(([name]) => name.startsWith("kilo.squat.ai/"))
      .map(([name, value]) => [name.slice("kilo.squat.ai/".length), value]),
  );
}

async function refusedWith(call: Promise<unknown>, status: number, message: RegExp): Promise<void> {
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof StatusError, String(error));
    assert.equal(error.status, status, error.message);
    assert.match(error.message, message);
    return true;
  });
}
