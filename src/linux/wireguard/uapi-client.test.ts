import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { publicKey } from "./fixtures.test-kit.ts";
import { isServed, readUserspace, setUserspace } from "./uapi-client.ts";

const folder = mkdtempSync(join(tmpdir(), "kilomesh-uapi-"));
after(() => rmSync(folder, { recursive: true }));

const DEVICE = `listen_port=51820\npublic_key=${"02".repeat(32)}\nallowed_ip=10.0.0.0/8\nerrno=0\n\n`;
let sockets = 0;

/** Serves one socket; `answer` gets each request. Resolves to its path and to what was asked. */
async function serve(answer: (socket: Socket, request: string) => void) {
  const path = join(folder, `s${sockets++}.sock`);
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      requests.push(data.toString());
      answer(socket, data.toString());
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  server.unref();
  return { path, requests, close: () => server.close() };
}

test("one request a connection; a reply that comes in pieces is put together", async () => {
  const { path, requests, close } = await serve((socket) => {
    const pieces = [DEVICE.slice(0, 30), DEVICE.slice(30, -1), "\n"];
    for (const [index, piece] of pieces.entries()) setTimeout(() => socket.write(piece), index * 5);
  });
  const device = await readUserspace(path);
  assert.equal(device?.peers[0]?.publicKey, publicKey(2));
  assert.deepEqual(requests, ["get=1\n\n"]);
  close();
});

test("no socket, and the socket of a dead process: the device does not exist", async () => {
  assert.equal(await readUserspace(join(folder, "none.sock")), undefined);
  const file = join(folder, "file.sock");
  writeFileSync(file, "");
  assert.equal(await readUserspace(file), undefined);
  assert.equal(await isServed(file), false);
  await assert.rejects(setUserspace("kilo0", file, { listenPort: 1, peers: [] }), { code: "DEVICE_MISSING" });
});

test("a taken port: the error names the port and what to do", async () => {
  const { path, close } = await serve((socket) => socket.end("errno=-98\n\n"));
  await assert.rejects(setUserspace("kilo0", path, { listenPort: 51820, peers: [] }), {
    code: "DEVICE_BUSY_PORT",
    message: /cannot bind kilo0: UDP port 51820 is taken .*--port/,
  });
  close();
});

test("a refused change is told with its errno", async () => {
  const { path, close } = await serve((socket) => socket.end("errno=-22\n\n"));
  await assert.rejects(setUserspace("kilo0", path, { peers: [] }), { code: "DEVICE_REFUSED", errno: 22 });
  close();
});

test("a reply that ends early is an error, not a device without peers", async () => {
  const { path, close } = await serve((socket) => socket.end("listen_port=1\n"));
  await assert.rejects(readUserspace(path), { code: "DEVICE_REPLY" });
  close();
});

test("a device that hangs is left when the signal says so", async () => {
  const { path, close } = await serve(() => undefined);
  const abort = new AbortController();
  const reading = readUserspace(path, abort.signal);
  setTimeout(() => abort.abort(new Error("stopped")), 10);
  await assert.rejects(reading, /stopped/);
  close();
});

test("a reply without end is bounded", async () => {
  const { path, close } = await serve((socket) => {
    const chunk = Buffer.alloc(1 << 20, "x");
    const write = (): void => {
      if (!socket.destroyed) socket.write(chunk, write);
    };
    write();
  });
  await assert.rejects(readUserspace(path), { code: "DEVICE_REPLY", message: /too long/ });
  close();
});
