import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EXPIRED_SERVER, OTHER_CA, STRANGER_CLIENT, TEST_CA } from "./certificates.test-kit.ts";
import { clientRig, NODE, rejects } from "./client.test-kit.ts";
import { connectionError } from "./connection-error.ts";
import { isConflict, KubeError, ProtocolError, StatusError, TlsError, UnreachableError } from "./errors.ts";
import { LEASES, NODES, PEERS, SECRETS } from "./resources.ts";
import { sendJson, sendStatus, startScriptedServer } from "./scripted-server.test-kit.ts";

describe("client: errors say what was tried, why it failed and what to do", () => {
  const { serve, connect } = clientRig();

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
    await rejects(stranger.get(NODES, "a"), KubeError, /./, ["the client certificate of kubeconfig k"]);
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

describe("what Node says of a connection", () => {
  const cases: [string, RegExp][] = [
    ["ENOTFOUND", /does not resolve/],
    ["EHOSTUNREACH", /no firewall is in between/],
    ["ECONNRESET", /closed the connection/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /TLS .* not signed by the CA of k: put the cluster's CA/],
    ["CERT_HAS_EXPIRED", /TLS .* expired: renew it/],
    ["CERT_NOT_YET_VALID", /TLS .* not valid yet/],
    ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED", /TLS .* refused the client certificate of k/],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", /TLS .* refused the client certificate of k/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", /TLS .* does not speak TLS/],
    ["ERR_OSSL_SOMETHING", /TLS .* check certificates and keys/],
  ];
  for (const [code, words] of cases) {
    it(`${code} is said in words`, () => {
      const cause = Object.assign(new Error("raw"), { code });
      const error = connectionError({ what: "list nodes", server: "https://s", source: "k" }, cause);
      assert.match(error.message, words);
      assert.equal(error.code, code);
      assert.equal(error.cause, cause);
    });
  }

  it("several addresses that all fail give the first one's code", () => {
    const cause = new AggregateError([Object.assign(new Error("raw"), { code: "ECONNREFUSED" })]);
    assert.equal(connectionError({ what: "x", server: "s", source: "k" }, cause).code, "ECONNREFUSED");
    assert.equal(connectionError({ what: "x", server: "s", source: "k" }, "odd").code, "UNKNOWN");
  });
});
