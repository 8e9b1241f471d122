/** A wireguard-go that does not answer any more: when it is ended, and when it is left. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { userspaceBackend } from "../../src/linux/wireguard/backend.ts";
import { createDeviceDriver } from "../../src/linux/wireguard/driver.ts";
import { processOfDevice } from "../../src/linux/wireguard/process.ts";
import { socketPath } from "../../src/linux/wireguard/uapi-client.ts";
import { assertSandbox, until } from "./sandbox.ts";

const signal = new AbortController().signal;

describe("a wireguard-go that does not answer", () => {
  before(assertSandbox);

  test("a wireguard-go that accepts and never answers is replaced after three reads", async () => {
    const driver = await createDeviceDriver({ name: "t-hung", mode: "userspace" });
    await driver.ensure(signal);
    const pid = await processOfDevice("t-hung");
    assert.ok(pid !== undefined);
    const told: string[] = [];
    const onReplaced = (message: string) => told.push(message);
    const backend = userspaceBackend("t-hung", { onReplaced, readTimeoutMs: 100 });
    await pauseWholly(pid);
    await assert.rejects(backend.read(), { code: "DEVICE_TIMEOUT" });
    await assert.rejects(backend.read(), { code: "DEVICE_TIMEOUT" });
    process.kill(pid, "SIGCONT");
    assert.ok(await backend.read(), "an answer starts the count anew");
    await pauseWholly(pid);
    for (let read = 0; read < 2; read++) await assert.rejects(backend.read(), { code: "DEVICE_TIMEOUT" });
    assert.equal(await backend.read(), undefined);
    assert.match(told[0] ?? "", /^wireguard-go of t-hung \(process \d+\) did not answer 3 times/);
    await backend.ensure(signal);
    assert.deepEqual((await backend.read())?.peers, []);
    assert.notEqual(await processOfDevice("t-hung"), pid);
    await driver.remove();
  });

  test("a wireguard-go that does not answer because it is busy is left alone, however often; one that sleeps is ended", async () => {
    const busy = await silentDaemon("t-busy", "for (;;) {}");
    const asleep = await silentDaemon(
      "t-asleep",
      "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    );
    try {
      const onReplaced = () => assert.fail("a busy process was ended");
      const backend = userspaceBackend("t-busy", { onReplaced, readTimeoutMs: 200 });
      for (let read = 0; read < 7; read++) await assert.rejects(backend.read(), { code: "DEVICE_TIMEOUT" });
      assert.equal(busy.exitCode, null);

      const told: string[] = [];
      const other = userspaceBackend("t-asleep", {
        onReplaced: (text) => told.push(text),
        readTimeoutMs: 200,
      });
      for (let read = 0; read < 2; read++) await assert.rejects(other.read(), { code: "DEVICE_TIMEOUT" });
      assert.equal(await other.read(), undefined);
      assert.equal(told.length, 1);
    } finally {
      busy.kill("SIGKILL");
      asleep.kill("SIGKILL");
    }
  });

  test("a silent socket that no wireguard-go of ours holds: nothing is ended", async () => {
    const folder = "/var/run/wireguard";
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(`${folder}/t-silent.sock`, () => resolve()));
    const onReplaced = () => assert.fail("nothing was to be ended");
    const backend = userspaceBackend("t-silent", { onReplaced, readTimeoutMs: 50 });
    for (let read = 0; read < 4; read++) await assert.rejects(backend.read(), { code: "DEVICE_TIMEOUT" });
    silent.close();
  });
});

/** What looks like the wireguard-go of a link, listens on its socket and then does only what `then` says. */
async function silentDaemon(name: string, then: string): Promise<ChildProcess> {
  const script = `/run/wireguard/${name}.cjs`;
  const code = `require("node:net").createServer().listen("${socketPath(name)}", () => setTimeout(() => { ${then} }, 50));`;
  writeFileSync(script, code);
  const daemon = spawn(process.execPath, [script, name], { argv0: "wireguard-go", stdio: "ignore" });
  await until(`the socket of ${name}`, async () => existsSync(socketPath(name)), 5_000);
  await sleep(300);
  return daemon;
}

/** Stops a process and waits until the last of its threads has stopped: one that still runs may answer. */
async function pauseWholly(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  const isStopped = (thread: string) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
  };
  await until("all threads to stop", async () => readdirSync(`/proc/${pid}/task`).every(isStopped), 5_000);
}
