import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { CLIENT, TEST_CA } from "./certificates.test-kit.ts";
import { clientRig, NODE, rejects } from "./client.test-kit.ts";
import { KubeError, ProtocolError, StatusError, TlsError, UnreachableError } from "./errors.ts";
import { createFakeClock } from "./fake-clock.test-kit.ts";
import { LEASES, NODES, PEERS } from "./resources.ts";
import { sendJson, sendStatus } from "./scripted-server.test-kit.ts";

describe("client: requests", () => {
  const { serve, connect, defer } = clientRig();

  it("each verb asks for the right thing", async () => {
    const server = await serve((_request, response) => sendJson(response, 200, NODE));
    const client = connect(server);
    const options = { namespace: "kube-system" };
    await client.get(NODES, "a");
    await client.create(LEASES, { metadata: { name: "l" }, spec: { holderIdentity: "me" } }, options);
    await client.patch(NODES, "a/b", { metadata: {} }, { kind: "strategic" });
    await client.patch(PEERS, "p", [{ op: "test", path: "/x", value: 1 }], { kind: "json" });
    await client.patch(PEERS, "p", { spec: {} }, { kind: "apply", force: true, fieldManager: "kg" });
    await client.patchStatus(NODES, "a", { status: {} }, { kind: "merge" });
    await client.delete(PEERS, "p");
    await client.delete(LEASES, "l", { ...options, uid: "u" });
    assert.deepEqual(
      server.requests.map(({ method, path, query }) => `${method} ${path} ${query}`.trim()),
      [
        "GET /api/v1/nodes/a",
        "POST /apis/coordination.k8s.io/v1/namespaces/kube-system/leases fieldManager=kilomesh",
        "PATCH /api/v1/nodes/a%2Fb fieldManager=kilomesh",
        "PATCH /apis/kilo.squat.ai/v1alpha1/peers/p fieldManager=kilomesh",
        "PATCH /apis/kilo.squat.ai/v1alpha1/peers/p fieldManager=kg&force=true",
        "PATCH /api/v1/nodes/a/status fieldManager=kilomesh",
        "DELETE /apis/kilo.squat.ai/v1alpha1/peers/p",
        "DELETE /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l",
      ],
    );
    assert.deepEqual(
      server.requests.slice(2, 6).map((request) => request.headers["content-type"]),
      [
        "application/strategic-merge-patch+json",
        "application/json-patch+json",
        "application/apply-patch+yaml",
        "application/merge-patch+json",
      ],
    );
    assert.deepEqual(JSON.parse(server.requests[1]?.body ?? ""), {
      metadata: { name: "l" },
      spec: { holderIdentity: "me" },
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
    });
    assert.deepEqual(JSON.parse(server.requests[7]?.body ?? "").preconditions, { uid: "u" });
    assert.equal(server.connections, 1, "one kept connection serves them all");
  });

  it("a list asks page by page and takes the version of the first", async () => {
    const server = await serve((request, response) => {
      const isFirst = request.query.get("continue") === null;
      const metadata = isFirst ? { resourceVersion: "7", continue: "next" } : { resourceVersion: "8" };
      sendJson(response, 200, { metadata, items: [{ metadata: { name: isFirst ? "a" : "b" } }] });
    });
    const list = await connect(server).list(NODES, { limit: 1 });
    assert.deepEqual(
      list.items.map((item) => item.metadata.name),
      ["a", "b"],
    );
    assert.equal(list.resourceVersion, "7");
    assert.deepEqual(
      server.requests.map(({ query }) => query.toString()),
      ["limit=1", "limit=1&continue=next"],
    );
  });

  it("a path in the server's address, plain HTTP and unix sockets work", async () => {
    const folder = mkdtempSync(join(tmpdir(), "kube-"));
    defer(() => rmSync(folder, { recursive: true }));
    const overTls = await serve((_request, response) => sendJson(response, 200, NODE));
    await connect({ url: `${overTls.url}/k8s/c1/` }).get(NODES, "a");
    assert.equal(overTls.requests[0]?.path, "/k8s/c1/api/v1/nodes/a");
    for (const options of [{ plain: true }, { path: join(folder, "api.sock") }]) {
      const server = await serve((_request, response) => sendJson(response, 200, NODE), options);
      assert.deepEqual(await connect(server).get(NODES, "a"), NODE);
    }
  });
});

describe("client: credentials", () => {
  const { serve, connect } = clientRig();

  it("a rotated token is sent with the very next request", async () => {
    let token = "first";
    const server = await serve((_request, response) => sendJson(response, 200, NODE));
    const client = connect(server, { credentials: () => ({ ca: TEST_CA, token }) });
    await client.get(NODES, "a");
    token = "second";
    await client.get(NODES, "a");
    assert.deepEqual(
      server.requests.map((request) => request.headers.authorization),
      ["Bearer first", "Bearer second"],
    );
  });

  it("a client certificate is shown", async () => {
    const server = await serve((_request, response) => sendJson(response, 200, NODE), {
      requireClient: true,
    });
    const { certificate, key } = CLIENT;
    await connect(server, { credentials: () => ({ ca: TEST_CA, certificate, key }) }).get(NODES, "a");
    assert.equal(server.requests[0]?.clientName, "client");
  });

  it("tls-server-name and insecure-skip-tls-verify are honoured", async () => {
    const server = await serve((_request, response) => sendJson(response, 200, NODE));
    await connect(server, { serverName: "kube.test" }).get(NODES, "a");
    await connect(server, { insecureSkipTlsVerify: true, credentials: () => ({}) }).get(NODES, "a");
    await assert.rejects(connect(server, { serverName: "other.test" }).get(NODES, "a"), TlsError);
  });
});

describe("client: going on", () => {
  const { serve, connect } = clientRig();

  it("a call that meets a connection closed meanwhile is sent again", async () => {
    const server = await serve((_request, response) => sendJson(response, 200, NODE));
    const client = connect(server);
    await client.get(NODES, "a");
    server.answer = (_request, response) => {
      server.answer = (_again, later) => sendJson(later, 200, NODE);
      response.socket?.destroy();
    };
    assert.deepEqual(await client.get(NODES, "a"), NODE);
    assert.equal(server.connections, 2);
  });

  it("but a create is not: it may have been carried out", async () => {
    const server = await serve((_request, response) => sendJson(response, 200, NODE));
    const client = connect(server);
    await client.get(NODES, "a");
    server.answer = (_request, response) => response.socket?.destroy();
    await assert.rejects(client.create(PEERS, NODE), UnreachableError);
    assert.equal(server.requests.length, 2);
  });

  it("Retry-After is waited for, three tries in all", async () => {
    const server = await serve((_request, response) => {
      response.setHeader("retry-after", "0");
      sendStatus(response, 429, "TooManyRequests", "slow down");
    });
    const client = connect(server);
    const error = await rejects(client.get(NODES, "a"), StatusError, "TooManyRequests", ["slow down"]);
    assert.equal(server.requests.length, 3);
    assert.equal((error as StatusError).retryAfterMs, 0);
  });

  it("an aborted call rejects with the signal's reason, before, during and after the head", async () => {
    const server = await serve(() => {});
    const client = connect(server);
    const reason = new Error("enough");
    await assert.rejects(client.get(NODES, "a", { signal: AbortSignal.abort(reason) }), reason);
    for (const writeHead of [false, true]) {
      const abort = new AbortController();
      server.answer = (_request, response) => {
        if (writeHead) response.writeHead(200).write("{");
        setTimeout(() => abort.abort(reason), 20);
      };
      await assert.rejects(client.get(NODES, "a", { signal: abort.signal }), reason);
    }
  });

  it("a server that takes the call and says nothing is given up after 30 s", async () => {
    const clock = createFakeClock();
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const server = await serve(() => asked());
    const client = connect(server, {}, { clock });
    const call = client.get(NODES, "a");
    call.catch(() => {});
    await isAsked;
    await clock.advance(30_000);
    await rejects(call, UnreachableError, "ANSWER_TIMEOUT", ["no answer from the API server"]);
    assert.deepEqual(clock.waiting, []);
  });

  it("an answer that stops in the middle is given up after 30 s, and no timer is left after any call", async () => {
    const clock = createFakeClock();
    const server = await serve((_request, response) => sendJson(response, 200, NODE));
    const client = connect(server, {}, { clock });
    await client.get(NODES, "a");
    assert.deepEqual(clock.waiting, []);
    server.answer = (_request, response) => response.writeHead(200).write("{");
    const call = client.get(NODES, "a");
    call.catch(() => {});
    while (clock.waiting.join() !== "30000") await clock.settle();
    await clock.advance(30_000);
    await rejects(call, ProtocolError, "Silent", ["the answer stopped after"]);
    assert.deepEqual(clock.waiting, []);
  });

  it("a socket that takes no TLS handshake is given up after 10 s", async () => {
    const clock = createFakeClock();
    const mute = net.createServer();
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const connected = once(mute, "connection");
    const { port } = mute.address() as net.AddressInfo;
    const client = connect({ url: `https://127.0.0.1:${port}` }, {}, { clock });
    const call = client.get(NODES, "a");
    call.catch(() => {});
    const [socket] = await connected;
    await clock.advance(10_000);
    await rejects(call, UnreachableError, "CONNECT_TIMEOUT", ["no firewall is in between"]);
    socket.destroy();
    mute.close();
  });

  it("close ends running calls", async () => {
    const server = await serve(() => client.close());
    const client = connect(server);
    await assert.rejects(client.get(NODES, "a"), KubeError);
  });
});
