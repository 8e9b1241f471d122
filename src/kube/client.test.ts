import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import { CLIENT, EXPIRED_SERVER, OTHER_CA, STRANGER_CLIENT, TEST_CA } from "./certificates.test-kit.ts";
import { createKubeClient, type KubeClient } from "./client.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { isConflict, KubeError, ProtocolError, StatusError, TlsError, UnreachableError } from "./errors.ts";
import { LEASES, NODES, PEERS, SECRETS } from "./resources.ts";
import {
  type Answerer,
  type ScriptedServer,
  type ScriptedServerOptions,
  sendJson,
  sendStatus,
  startScriptedServer,
} from "./scripted-server.test-kit.ts";

const NODE = { metadata: { name: "a", resourceVersion: "1" } };

describe("client", () => {
  const toClose: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0)) await close();
  });

  async function serve(answer: Answerer, options?: ScriptedServerOptions): Promise<ScriptedServer> {
    const server = await startScriptedServer(answer, options);
    toClose.push(() => server.close());
    return server;
  }

  function connect(server: { url: string }, config: Partial<ClusterConfig> = {}): KubeClient {
    const client = createKubeClient({ config: { ...configFor(server.url), ...config } });
    toClose.push(() => client.close());
    return client;
  }

  describe("requests", () => {
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
      toClose.push(() => rmSync(folder, { recursive: true }));
      const overTls = await serve((_request, response) => sendJson(response, 200, NODE));
      await connect({ url: `${overTls.url}/k8s/c1/` }).get(NODES, "a");
      assert.equal(overTls.requests[0]?.path, "/k8s/c1/api/v1/nodes/a");
      for (const options of [{ plain: true }, { path: join(folder, "api.sock") }]) {
        const server = await serve((_request, response) => sendJson(response, 200, NODE), options);
        assert.deepEqual(await connect(server).get(NODES, "a"), NODE);
      }
    });
  });

  describe("credentials", () => {
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

  describe("errors say what was tried, why it failed and what to do", () => {
    it("nothing listens", async () => {
      const server = await startScriptedServer(() => {});
      await server.close();
      await rejects(connect(server).list(NODES), UnreachableError, "ECONNREFUSED", [
        `cannot list nodes: no answer from the API server ${server.url} (ECONNREFUSED)`,
        "check that it runs, that the address in kubeconfig k is right",
      ]);
    });

    it("the name does not resolve", async () => {
      const client = connect({ url: "https://no-such-host.invalid" });
      await assert.rejects(client.get(NODES, "a"), /cannot get Node a: .*its name does not resolve/);
    });

    it("the server's certificate is of an unknown CA, expired, or for other names", async () => {
      const server = await serve(() => {});
      const expired = await serve(() => {}, { identity: EXPIRED_SERVER });
      const unknown = connect(server, { credentials: () => ({ ca: OTHER_CA }) });
      await rejects(unknown.get(NODES, "a"), TlsError, /UNABLE_TO|SELF_SIGNED/, [
        "not signed by the CA of kubeconfig k",
      ]);
      await rejects(connect(expired).get(NODES, "a"), TlsError, "CERT_HAS_EXPIRED", ["machine's clock"]);
      const misnamed = connect(server, { serverName: "else.test" });
      await rejects(misnamed.get(NODES, "a"), TlsError, "ERR_TLS_CERT_ALTNAME_INVALID", ["tls-server-name"]);
    });

    it("the server refuses our certificate, or speaks no TLS", async () => {
      const server = await serve(() => {}, { requireClient: true });
      const { certificate, key } = STRANGER_CLIENT;
      const stranger = connect(server, { credentials: () => ({ ca: TEST_CA, certificate, key }) });
      await assert.rejects(stranger.get(NODES, "a"), KubeError);
      const plain = await serve(() => {}, { plain: true });
      const wrong = connect({ url: plain.url.replace("http:", "https:") });
      await rejects(wrong.get(NODES, "a"), TlsError, /EPROTO|WRONG_VERSION/, ["does not speak TLS"]);
    });

    it("401 names the credentials, 403 the permission that is missing", async () => {
      const server = await serve((_request, response) =>
        sendStatus(response, 401, "Unauthorized", "Unauthorized"),
      );
      const client = connect(server);
      await rejects(client.get(NODES, "a"), StatusError, "Unauthorized", [
        "cannot get Node a: 401",
        "token or client certificate of kubeconfig k is valid and not expired",
      ]);
      server.answer = (_request, response) => sendStatus(response, 403, "Forbidden", "nodes is forbidden");
      await rejects(client.patchStatus(NODES, "a", {}, { kind: "merge" }), StatusError, "Forbidden", [
        "cannot patch status of Node a: 403 nodes is forbidden",
        'ClusterRole with apiGroups [""], resources ["nodes/status"], verbs ["patch"]',
      ]);
      await rejects(client.list(LEASES, { namespace: "x" }), StatusError, "Forbidden", [
        "cannot list leases in x",
        'Role in x with apiGroups ["coordination.k8s.io"], resources ["leases"], verbs ["list"]',
      ]);
    });

    it("404 of a custom resource names the CRD to install; 409 and 422 keep the server's reason", async () => {
      const server = await serve((_request, response) => response.writeHead(404).end("404 page not found\n"));
      const client = connect(server);
      await rejects(client.list(PEERS), StatusError, "NotFound", [
        "cannot list peers: 404 404 page not found (NotFound)",
        "install the CustomResourceDefinition peers.kilo.squat.ai",
      ]);
      server.answer = (_request, response) => sendStatus(response, 409, "AlreadyExists", "is there");
      const error = await rejects(
        client.create(SECRETS, NODE, { namespace: "n" }),
        StatusError,
        "AlreadyExists",
        ["cannot create Secret n/a: 409 is there"],
      );
      assert.ok(isConflict(error));
    });

    it("an answer of something that is no API server", async () => {
      const server = await serve((_request, response) => response.writeHead(200).end("<html>"));
      const client = connect(server);
      await rejects(client.get(NODES, "a"), ProtocolError, "NotJson", [
        "check that the address is an API server's",
      ]);
      await rejects(client.list(NODES), ProtocolError, "NotJson", ["cannot list nodes"]);
      server.answer = (_request, response) => sendJson(response, 200, null);
      await rejects(client.list(NODES), ProtocolError, "NotJson", ["not a list"]);
      server.answer = (_request, response) => response.writeHead(502).end("<b>Bad\n\n gateway</b>");
      await rejects(client.get(NODES, "a"), StatusError, "Http502", ["502 <b>Bad gateway</b>"]);
    });

    it("a connection that is cut inside the answer", async () => {
      const server = await serve((_request, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write("{", () => server.cutConnections());
      });
      await rejects(connect(server).get(NODES, "a"), ProtocolError, "CutOff", ["cannot get Node a"]);
    });
  });

  describe("going on", () => {
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

    it("close ends running calls", async () => {
      const server = await serve(() => client.close());
      const client = connect(server);
      await assert.rejects(client.get(NODES, "a"), KubeError);
    });
  });
});

function configFor(url: string): ClusterConfig {
  return { server: url, source: "kubeconfig k", credentials: () => ({ ca: TEST_CA }) };
}

async function rejects(
  call: Promise<unknown>,
  type: new (...args: never[]) => KubeError,
  code: string | RegExp,
  texts: readonly string[],
): Promise<KubeError> {
  const error = await call.then(
    () => assert.fail("it must reject"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof type, String(error));
  if (typeof code === "string") assert.equal(error.code, code);
  else assert.match(error.code, code);
  for (const text of texts) assert.ok(error.message.includes(text), error.message);
  return error;
}
