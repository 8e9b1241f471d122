import assert from "node:assert/strict";
import { createServer, get as request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { Health } from "./health.ts";
import { ListenError, parseListen, serveHttp } from "./http.ts";

describe("agent http", () => {
  it("answers 503 with the reasons until converged, and liveness always", async () => {
    const health = new Health();
    const port = await freePort();
    const server = await serveHttp({
      listen: `127.0.0.1:${port}`,
      notReady: () => health.reasons(),
      metrics: () => "kilo_nodes 3\n",
    });
    try {
      const get = (path: string) => ask(`http://127.0.0.1:${port}${path}`);
      assert.match(await get("/health"), /^503 not ready\nsync: waiting for the first complete list/);
      assert.equal(await get("/livez"), "200 ok\n");
      health.ok("sync");
      health.fail("apply", "cannot add route");
      assert.equal(await get("/health"), "503 not ready\napply: cannot add route\n");
      health.ok("apply");
      assert.equal(await get("/health"), "200 ok\n");
      assert.equal(await get("/metrics"), "200 kilo_nodes 3\n");
      assert.match(await get("/graph"), /^404 /);
    } finally {
      await server.close();
    }
  });

  it("a taken port is an error that names the port and the flag", async () => {
    const port = await freePort();
    const other = createServer().listen(port, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    try {
      await assert.rejects(
        serveHttp({ listen: `127.0.0.1:${port}`, notReady: () => [], metrics: () => "" }),
        (error) =>
          error instanceof ListenError &&
          error.message.includes(String(port)) &&
          error.message.includes("--listen"),
      );
    } finally {
      other.close();
    }
  });

  it("reads listen addresses", () => {
    assert.deepEqual(parseListen(":1107"), { host: undefined, port: 1107 });
    assert.deepEqual(parseListen("127.0.0.1:80"), { host: "127.0.0.1", port: 80 });
    assert.deepEqual(parseListen("[::1]:80"), { host: "::1", port: 80 });
    for (const bad of ["1107", "::1:80", ":99999", "a b", "host:"])
      assert.throws(() => parseListen(bad), ListenError, bad);
  });
});

/** Not `fetch`: its connections outlive a test, with timers that other tests' clocks would disturb. */
function ask(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve(`${response.statusCode} ${body}`));
    }).on("error", reject);
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
