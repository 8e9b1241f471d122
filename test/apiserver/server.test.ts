/** The server itself: who may ask, what is counted, how it is away and back. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { get } from "node:http";
import { Agent, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  type ApiServer,
  CertificateError,
  type Certificates,
  ListenError,
  makeCertificates,
  startApiServer,
} from "../../src/lab/apiserver/index.ts";
import { patch, send, Watcher } from "./client.ts";

const NODES = "/api/v1/nodes";

const TOKENS = {
  "token-a": { name: "system:node:a", groups: ["system:nodes"] },
  "token-b": { name: "system:node:b", groups: ["system:nodes"] },
};

function bearer(token: string): { headers: Record<string, string> } {
  return { headers: { Authorization: `Bearer ${token}` } };
}

describe("authentication and authorization", () => {
  let server: ApiServer;
  before(async () => {
    server = await startApiServer({
      tokens: TOKENS,
      authorizer: ({ user, verb, resource, name }) =>
        verb !== "patch" || (resource === "nodes" && `system:node:${name}` === user.name) || "not your node",
    });
    server.put({ apiVersion: "v1", kind: "Node", metadata: { name: "a" } });
  });
  after(() => server.close());

  it("nobody and a wrong token get 401, health is open", async () => {
    assert.equal((await send(server, "GET", NODES)).status, 401);
    const wrong = await send(server, "GET", NODES, undefined, bearer("nonsense"));
    assert.deepEqual([wrong.status, wrong.body.kind, wrong.body.reason], [401, "Status", "Unauthorized"]);
    assert.equal((await send(server, "GET", "/readyz")).body.text, "ok");
    assert.equal((await send(server, "GET", NODES, undefined, bearer("token-a"))).status, 200);
  });

  it("what the authorizer forbids is 403, in the words of Kubernetes", async () => {
    const headers = { ...bearer("token-b").headers, "Content-Type": "application/merge-patch+json" };
    const refused = await send(server, "PATCH", `${NODES}/a`, {}, { headers });
    assert.deepEqual([refused.status, refused.body.reason], [403, "Forbidden"]);
    const words = 'User "system:node:b" cannot patch resource "nodes" in API group "" at the cluster scope';
    assert.equal(refused.body.message, `nodes "a" is forbidden: ${words}: not your node`);
  });
});

describe("counts", () => {
  it("requests, writes, failures, events and bytes stand under the client's name", async () => {
    const server = await startApiServer({ tokens: TOKENS });
    const a = bearer("token-a");
    await send(server, "POST", NODES, { metadata: { name: "a" } }, a);
    await send(server, "GET", `${NODES}/missing`, undefined, a);
    await send(server, "GET", NODES, undefined, bearer("token-b"));
    const watcher = await Watcher.open(server, `${NODES}?watch=1`, bearer("token-b"));
    await watcher.next();
    const shown = await send(server, "GET", "/lab/stats", undefined, a);
    const { clients } = server.stats();
    const ofA = clients["system:node:a"];
    assert.deepEqual(ofA?.requests, { "create nodes": 1, "get nodes": 1, "get /lab/stats": 1 });
    assert.deepEqual([ofA?.writes, ofA?.failures, ofA?.events, ofA?.bytesReceived], [1, 1, 0, 25]);
    const ofB = clients["system:node:b"];
    assert.deepEqual([ofB?.writes, ofB?.events, ofB?.watches], [0, 1, 1]);
    assert.ok((ofB?.bytesSent ?? 0) > 100);
    assert.deepEqual(Object.keys((shown.body.clients ?? {}) as object).sort(), Object.keys(clients).sort());
    server.resetStats();
    assert.equal(server.stats().clients["system:node:a"]?.writes, 0);
    assert.equal(server.stats().clients["system:node:b"]?.watches, 1);
    await server.close();
  });

  it("without authentication a client is its User-Agent, and many of them cannot fill the memory", async () => {
    const server = await startApiServer();
    const headers = { "User-Agent": "kg/1.0 (linux)" };
    await patch(server, "merge-patch+json", `${NODES}/x`, {});
    await send(server, "GET", NODES, undefined, { headers });
    assert.deepEqual(server.stats().clients["kg/1.0"]?.requests, { "list nodes": 1 });
    for (let count = 0; count < 1010; count += 1) {
      await send(server, "GET", "/livez", undefined, { headers: { "User-Agent": `agent-${count}` } });
    }
    assert.ok(Object.keys(server.stats().clients).length <= 1001);
    await server.close();
  });
});

describe("away and back", () => {
  it("refuse: connections are cut and refused; resume: same port, same objects, watches go on from where they were", async () => {
    const server = await startApiServer();
    const { url } = server;
    const watcher = await Watcher.open(server, `${NODES}?watch=true`);
    await server.pause();
    await watcher.ended();
    await assert.rejects(send(server, "GET", NODES), { code: "ECONNREFUSED" });
    const from = server.revision();
    server.put({ apiVersion: "v1", kind: "Node", metadata: { name: "meanwhile" } });
    await server.resume();
    assert.equal(server.url, url);
    const again = await Watcher.open(server, `${NODES}?watch=true&resourceVersion=${from}`);
    assert.deepEqual(await again.names(1), ["ADDED meanwhile"]);
    await server.close();
    await server.close();
  });

  it("hang: nothing is answered and no event comes; resume cuts what hung", async () => {
    const server = await startApiServer();
    const watcher = await Watcher.open(server, `${NODES}?watch=true`);
    await server.pause("hang");
    const unanswered = send(server, "GET", NODES).then(
      () => "answered",
      () => "cut",
    );
    server.put({ apiVersion: "v1", kind: "Node", metadata: { name: "unseen" } });
    const first = await Promise.race([
      unanswered,
      new Promise((resolve) => setTimeout(resolve, 100, "silence")),
    ]);
    assert.equal(first, "silence");
    await server.resume();
    assert.equal(await unanswered, "cut");
    await assert.rejects(watcher.next(), /the watch ended/);
    assert.equal((await send(server, "GET", NODES)).status, 200);
    await server.close();
  });

  it("a taken port is refused with its address", async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
    const { port } = holder.address() as { port: number };
    const taken = new RegExp(`cannot listen on 127.0.0.1:${port}: .*EADDRINUSE`);
    const refusal = (error: unknown): boolean => error instanceof ListenError && taken.test(error.message);
    await assert.rejects(startApiServer({ port }), refusal);
    holder.close();
  });

  it("a unix socket serves as well, also over a file that a killed process left", async () => {
    const folder = await mkdtemp(join(tmpdir(), "apiserver-"));
    const socketPath = join(folder, "api.sock");
    const server = await startApiServer({ socketPath });
    const { status } = await send(server, "GET", NODES, undefined, { socketPath });
    assert.equal(status, 200);
    await server.close();
    await rm(folder, { recursive: true });
  });
});

describe("malformed requests", () => {
  it("a path nobody can read is answered, and the server goes on", async () => {
    const server = await startApiServer();
    const raw = (path: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(server.url);
        get({ hostname, port, path, agent: false }, (response) => resolve(response.resume().statusCode)).on(
          "error",
          reject,
        );
      });
    assert.equal(await raw("//"), 404);
    assert.equal(await raw("/api/v1/nodes/%zz"), 400);
    assert.equal(await raw("/api/v1/nodes/a%2Fb"), 404);
    assert.equal(await raw("//api//v1/nodes"), 404);
    assert.equal((await send(server, "GET", NODES)).status, 200);
    await server.close();
  });
});

describe("TLS", () => {
  let folder: string;
  let made: Certificates;
  let server: ApiServer;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "apiserver-"));
    made = await makeCertificates(folder, {
      clients: [{ name: "admin", groups: ["system:masters", "ops"] }],
    });
    server = await startApiServer({
      tls: { ...made.server, clientCa: made.ca },
      tokens: {},
      authorizer: ({ user }) => user.groups.join(",") === "system:masters,ops" || "not an admin",
    });
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const status = (identity: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { ca: made.ca, agent: false, ...identity };
      request(new URL(NODES, server.url), options, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });

  it("the certificate names the host, a client certificate names user and groups", async () => {
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(await status({ ...made.clients.admin }), 200);
    assert.deepEqual(Object.keys(server.stats().clients), ["admin"]);
  });

  it("a resumed TLS session is the same user", async () => {
    const agent = new Agent({ keepAlive: false, ca: made.ca, ...made.clients.admin });
    for (let count = 0; count < 3; count += 1) assert.equal(await status({ agent }), 200);
  });

  it("no certificate, and one of another authority, are nobody", async () => {
    assert.equal(await status({}), 401);
    const other = await makeCertificates(join(folder, "other"), { clients: [{ name: "admin" }] });
    assert.equal(await status({ ...other.clients.admin }), 401);
  });

  it("a missing openssl is said so", async () => {
    const path = process.env.PATH;
    process.env.PATH = "/nonexistent";
    const refusal = (error: unknown): boolean =>
      error instanceof CertificateError && /openssl command is missing/.test(error.message);
    try {
      await assert.rejects(makeCertificates(join(folder, "none")), refusal);
    } finally {
      process.env.PATH = path;
    }
  });
});
