/** Objects over HTTP: what is created, changed and deleted, and what is refused in which words. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  ApiError,
  type ApiObject,
  type ApiServer,
  type JsonMap,
  startApiServer,
} from "../../src/lab/apiserver/index.ts";
import { patch, send } from "./client.ts";
import { PEER_CRD } from "./peer-crd.ts";

const NODES = "/api/v1/nodes";
const PEERS = "/apis/kilo.squat.ai/v1alpha1/peers";
const SECRETS = "/api/v1/namespaces/default/secrets";

const WIDGET_CRD: JsonMap = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Widget", plural: "widgets" },
    scope: "Namespaced",
    versions: [
      {
        ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      },
    ],
  },
};

function peer(name: string, spec: JsonMap = { allowedIPs: ["10.5.0.1/32"], publicKey: "k" }): JsonMap {
  return { apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer", metadata: { name }, spec };
}

function node(name: string, more: JsonMap = {}): JsonMap {
  return { apiVersion: "v1", kind: "Node", metadata: { name }, ...more };
}

describe("objects", () => {
  let server: ApiServer;
  before(async () => {
    server = await startApiServer({ objects: [PEER_CRD, WIDGET_CRD] });
  });
  after(() => server.close());

  const meta = (body: JsonMap): JsonMap => body.metadata as JsonMap;

  it("create gives uid, creationTimestamp and resourceVersion; twice is AlreadyExists", async () => {
    const made = await send(server, "POST", NODES, node("n1"));
    assert.equal(made.status, 201);
    assert.match(String(meta(made.body).uid), /^[0-9a-f-]{36}$/);
    assert.match(String(meta(made.body).creationTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const again = await send(server, "POST", NODES, node("n1"));
    assert.deepEqual([again.status, again.body.reason], [409, "AlreadyExists"]);
    assert.equal(again.body.message, 'nodes "n1" already exists');
  });

  it("generateName adds a suffix", async () => {
    const body = { metadata: { generateName: "event-" }, involvedObject: {}, reason: "x" };
    const made = await send(server, "POST", "/api/v1/namespaces/default/events", body);
    assert.match(String(meta(made.body).name), /^event-[a-z0-9]{5}$/);
  });

  it("a namespace that is missing is NotFound, one that is deleted takes its objects along", async () => {
    const secret = { metadata: { name: "s" }, stringData: { key: "value" } };
    const missing = await send(server, "POST", "/api/v1/namespaces/team/secrets", secret);
    assert.equal(missing.body.message, 'namespaces "team" not found');
    await send(server, "POST", "/api/v1/namespaces", { metadata: { name: "team" } });
    const made = await send(server, "POST", "/api/v1/namespaces/team/secrets", secret);
    assert.deepEqual(made.body.data, { key: "dmFsdWU=" });
    assert.equal((await send(server, "DELETE", "/api/v1/namespaces/team")).status, 200);
    assert.equal(server.get({ apiVersion: "v1", kind: "Secret", namespace: "team", name: "s" }), undefined);
    const fixed = await send(server, "DELETE", "/api/v1/namespaces/kube-system");
    assert.equal(fixed.status, 403);
  });

  it("update with an old resourceVersion is a Conflict, a change of nothing writes nothing", async () => {
    const made = await send(server, "POST", NODES, node("n2"));
    const changed = { ...made.body, metadata: { ...meta(made.body), labels: { a: "b" } } };
    const updated = await send(server, "PUT", `${NODES}/n2`, changed);
    assert.equal(updated.status, 200);
    const stale = await send(server, "PUT", `${NODES}/n2`, changed);
    assert.deepEqual([stale.status, stale.body.reason], [409, "Conflict"]);
    assert.match(String(stale.body.message), /nodes "n2": the object has been modified/);
    const revision = server.revision();
    const same = await patch(server, "merge-patch+json", `${NODES}/n2`, { metadata: { labels: { a: "b" } } });
    assert.equal(meta(same.body).resourceVersion, meta(updated.body).resourceVersion);
    assert.equal(server.revision(), revision);
  });

  it("a merge patch that names a resourceVersion holds to it", async () => {
    await send(server, "POST", NODES, node("n3"));
    const body = { metadata: { resourceVersion: "1", labels: { a: "b" } } };
    const refused = await patch(server, "merge-patch+json", `${NODES}/n3`, body);
    assert.equal(refused.status, 409);
  });

  it("each kind of patch reaches a node; a strategic one is refused for a CRD's object", async () => {
    await send(
      server,
      "POST",
      NODES,
      node("n4", { status: { conditions: [{ type: "Ready", status: "False" }] } }),
    );
    await patch(server, "merge-patch+json", `${NODES}/n4`, { metadata: { annotations: { a: "1", b: "2" } } });
    await patch(server, "json-patch+json", `${NODES}/n4`, [
      { op: "remove", path: "/metadata/annotations/b" },
    ]);
    const conditions = [{ type: "NetworkUnavailable", status: "False" }];
    const status = { status: { conditions } };
    const patched = await patch(server, "strategic-merge-patch+json", `${NODES}/n4/status`, status);
    assert.deepEqual(meta(patched.body).annotations, { a: "1" });
    assert.equal(((patched.body.status as JsonMap).conditions as unknown[]).length, 2);

    server.put(peer("p4"));
    const refused = await patch(server, "strategic-merge-patch+json", `${PEERS}/p4`, {});
    assert.deepEqual([refused.status, refused.body.reason], [415, "UnsupportedMediaType"]);
    assert.match(String(refused.body.message), /application\/merge-patch\+json/);
  });

  it("apply creates, changes, removes what it no longer names, and never conflicts", async () => {
    const path = `${PEERS}/applied?fieldManager=one`;
    const spec = { allowedIPs: ["10.5.0.2/32"], publicKey: "k" };
    const made = await patch(
      server,
      "apply-patch+yaml",
      path,
      peer("applied", { ...spec, persistentKeepalive: 10 }),
    );
    assert.equal(made.status, 201);
    const other = { ...peer("applied", spec), metadata: { name: "applied", labels: { theirs: "1" } } };
    await patch(server, "apply-patch+yaml", `${PEERS}/applied?fieldManager=two`, other);
    const yaml = [
      ...["apiVersion: kilo.squat.ai/v1alpha1", "kind: Peer", "metadata: {name: applied}"],
      "spec: {allowedIPs: [10.5.0.3/32], publicKey: k}",
    ].join("\n");
    const changed = await patch(server, "apply-patch+yaml", path, yaml);
    assert.deepEqual(changed.body.spec, { allowedIPs: ["10.5.0.3/32"], publicKey: "k" });
    assert.deepEqual(meta(changed.body).labels, { theirs: "1" });
    const nobody = await patch(server, "apply-patch+yaml", `${PEERS}/applied`, peer("applied"));
    assert.match(String(nobody.body.message), /fieldManager: Required value/);
  });

  it("a Peer that does not fit its schema is refused with the field named", async () => {
    const none = await send(server, "POST", PEERS, peer("bad", { allowedIPs: [] }));
    assert.deepEqual([none.status, none.body.reason], [422, "Invalid"]);
    assert.equal(none.body.message, 'Peer.kilo.squat.ai "bad" is invalid: spec.publicKey: Required value');
    const spec = { allowedIPs: "10.0.0.0/8", publicKey: "k", endpoint: { port: 1 } };
    const wrong = await send(server, "POST", PEERS, peer("bad", spec));
    const fields = ((wrong.body.details as JsonMap).causes as JsonMap[]).map((cause) => cause.field);
    assert.deepEqual(fields, ["spec.allowedIPs", "spec.endpoint.dnsOrIP"]);
  });

  it("unknown fields are dropped: silently, with a warning, or refused, as fieldValidation says", async () => {
    const spec = { allowedIPs: [], publicKey: "k", keepalive: 5 };
    const create = (name: string, mode: string) =>
      send(server, "POST", `${PEERS}?fieldValidation=${mode}`, peer(name, spec));
    const strict = await create("f1", "Strict");
    assert.equal(strict.status, 400);
    assert.match(String(strict.body.message), /strict decoding error: unknown field "spec.keepalive"/);
    const warned = await create("f2", "Warn");
    assert.equal(warned.headers.warning, '299 - "unknown field \\"spec.keepalive\\""');
    assert.deepEqual(warned.body.spec, { allowedIPs: [], publicKey: "k" });
    assert.equal((await create("f3", "Ignore")).headers.warning, undefined);
  });

  it("status has its own door: each side leaves the other alone, generation counts the spec", async () => {
    const path = "/apis/example.com/v1/namespaces/default/widgets";
    const body = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: { size: 1 } };
    const made = await send(server, "POST", path, { ...body, status: { ready: true } });
    assert.equal(made.body.status, undefined);
    const both = { spec: { size: 2 }, status: { ready: true } };
    const stated = await patch(server, "merge-patch+json", `${path}/w/status`, both);
    assert.deepEqual([stated.body.spec, stated.body.status], [{ size: 1 }, { ready: true }]);
    assert.equal(meta(stated.body).generation, 1);
    const specced = await patch(server, "merge-patch+json", `${path}/w`, {
      spec: { size: 3 },
      status: { ready: false },
    });
    assert.deepEqual([specced.body.spec, specced.body.status], [{ size: 3 }, { ready: true }]);
    assert.equal(meta(specced.body).generation, 2);
  });

  it("an object with finalizers stays until they are gone", async () => {
    server.put({ ...peer("held"), metadata: { name: "held", finalizers: ["example.com/hold"] } });
    const marked = await send(server, "DELETE", `${PEERS}/held`);
    assert.ok(meta(marked.body).deletionTimestamp);
    const still = await send(server, "GET", `${PEERS}/held`);
    assert.equal(still.status, 200);
    await patch(server, "merge-patch+json", `${PEERS}/held`, { metadata: { finalizers: null } });
    assert.equal((await send(server, "GET", `${PEERS}/held`)).status, 404);
  });

  it("preconditions of a delete are kept, a collection is deleted by selector", async () => {
    server.put({ ...peer("c1"), metadata: { name: "c1", labels: { group: "x" } } });
    server.put({ ...peer("c2"), metadata: { name: "c2", labels: { group: "x" } } });
    const refused = await send(server, "DELETE", `${PEERS}/c1`, { preconditions: { uid: "other" } });
    assert.equal(refused.status, 409);
    const deleted = await send(server, "DELETE", `${PEERS}?labelSelector=group%3Dx`);
    assert.equal((deleted.body.items as unknown[]).length, 2);
    assert.equal((await send(server, "GET", `${PEERS}/c2`)).status, 404);
  });

  it("dryRun checks everything and stores nothing", async () => {
    const made = await send(server, "POST", `${PEERS}?dryRun=All`, peer("dry"));
    assert.equal(made.status, 201);
    assert.equal((await send(server, "GET", `${PEERS}/dry`)).status, 404);
    assert.equal((await send(server, "POST", `${PEERS}?dryRun=All`, peer("dry", {}))).status, 422);
  });

  it("metadata that breaks the rules is refused", async () => {
    const bad = [
      [node("Upper"), 422, /metadata.name: Invalid value: "Upper"/],
      [{ metadata: { name: "n", labels: { "a b": "c" } } }, 422, /metadata.labels: Invalid value: "a b"/],
      [{ metadata: { name: "n", labels: { a: "-" } } }, 422, /metadata.labels: Invalid value: "-"/],
      [
        { metadata: { name: "n", annotations: { a: 1 } } },
        400,
        /metadata.annotations is not a map of strings/,
      ],
      [{ metadata: { name: "n", annotations: { a: "x".repeat(300_000) } } }, 422, /more than 262144 bytes/],
      [{ apiVersion: "v2", metadata: { name: "n" } }, 400, /does not match the expected API version/],
      [{ metadata: {} }, 400, /neither metadata.name nor metadata.generateName/],
    ] as const;
    for (const [body, status, message] of bad) {
      const refused = await send(server, "POST", NODES, body);
      assert.equal(refused.status, status, String(refused.body.message));
      assert.match(String(refused.body.message), message);
    }
  });

  it("what is not served is refused, with what to use instead", async () => {
    const paths = [
      "/apis/apps/v1/deployments",
      "/api/v1/nodes/n1/proxy",
      "/api/v1/services",
      "/apis/none/v1/x/y",
    ];
    for (const path of paths) {
      const { status, body } = await send(server, "GET", path);
      assert.deepEqual([status, body.kind, body.reason], [404, "Status", "NotFound"]);
      assert.match(String(body.message), /use a real cluster/);
    }
    const method = await send(server, "POST", `${NODES}/n1`, {});
    assert.deepEqual([method.status, method.body.reason], [405, "MethodNotAllowed"]);
    assert.equal((await send(server, "POST", "/api/v1/secrets", { metadata: { name: "x" } })).status, 405);
  });

  it("a body that is too large, of another type, malformed or missing is refused", async () => {
    const large = await send(server, "POST", SECRETS, {
      metadata: { name: "x" },
      data: { k: "x".repeat(4_000_000) },
    });
    assert.deepEqual([large.status, large.body.reason], [413, "RequestEntityTooLarge"]);
    const headers = { "Content-Type": "application/vnd.kubernetes.protobuf" };
    assert.equal((await send(server, "POST", SECRETS, "k8s", { headers })).status, 415);
    assert.equal((await send(server, "POST", SECRETS, "{")).status, 400);
    assert.equal((await send(server, "POST", SECRETS)).status, 400);
  });

  it("a CRD is served as soon as it is created, and its objects go with it", async () => {
    const names = { kind: "Late", plural: "lates" };
    const versions = [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
    ];
    const spec = { group: "example.com", names, scope: "Cluster", versions };
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const ruled = structuredClone(spec);
    Object.assign(ruled.versions[0]?.schema.openAPIV3Schema ?? {}, {
      "x-kubernetes-validations": [{ rule: "true" }],
    });
    const warned = await send(server, "POST", `${crds}?dryRun=All`, {
      metadata: { name: "lates.example.com" },
      spec: ruled,
    });
    assert.match(String(warned.headers.warning), /CEL rules\) are not checked/);
    const wrong = await send(server, "POST", crds, { metadata: { name: "wrong.example.com" }, spec });
    assert.match(String(wrong.body.message), /metadata.name: Invalid value: "wrong.example.com"/);
    const made = await send(server, "POST", crds, { metadata: { name: "lates.example.com" }, spec });
    const conditions = (made.body.status as JsonMap).conditions as JsonMap[];
    assert.ok(conditions.some(({ type, status }) => type === "Established" && status === "True"));
    assert.equal(
      (await send(server, "POST", "/apis/example.com/v1/lates", { metadata: { name: "l" } })).status,
      201,
    );
    await send(server, "DELETE", `${crds}/lates.example.com`);
    assert.equal((await send(server, "GET", "/apis/example.com/v1/lates")).status, 404);
    assert.equal((await send(server, "GET", "/apis/example.com/v1/namespaces/default/widgets")).status, 200);
  });

  it("lists of built-in kinds carry items without apiVersion and kind, as Kubernetes sends them", async () => {
    const nodes = await send(server, "GET", NODES);
    assert.equal(nodes.body.kind, "NodeList");
    assert.ok((nodes.body.items as ApiObject[]).every((item) => item.kind === undefined));
    const peers = await send(server, "GET", PEERS);
    assert.ok((peers.body.items as ApiObject[]).every((item) => item.kind === "Peer"));
  });

  it("direct access validates too, and names a kind it does not know", () => {
    const isCode = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code;
    assert.throws(() => server.put(peer("direct", { allowedIPs: [] })), isCode("Invalid"));
    assert.throws(() => server.get({ apiVersion: "v1", kind: "Service", name: "s" }), isCode("NotFound"));
    server.put(peer("direct"));
    const { uid, creationTimestamp } = server.put(
      peer("direct", { allowedIPs: [], publicKey: "other" }),
    ).metadata;
    const found = server.get({ apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer", name: "direct" });
    assert.deepEqual([found?.metadata.uid, found?.metadata.creationTimestamp], [uid, creationTimestamp]);
    assert.deepEqual(found?.spec, { allowedIPs: [], publicKey: "other" });
    assert.ok(server.delete({ apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer", name: "direct" }));
    assert.ok(!server.delete({ apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer", name: "direct" }));
  });

  it("events are bounded: the oldest goes", async () => {
    const small = await startApiServer();
    const event = { involvedObject: { name: "n" }, reason: "r" };
    for (let count = 0; count < 1000; count += 1) {
      small.put({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: `e${count}`, namespace: "default" },
        ...event,
      });
    }
    await send(small, "POST", "/api/v1/namespaces/default/events", {
      metadata: { name: "newest" },
      ...event,
    });
    const left = small.list("v1", "Event");
    await small.close();
    assert.equal(left.length, 1000);
    assert.ok(!left.some((object) => object.metadata.name === "e0"));
  });
});
