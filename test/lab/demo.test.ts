/** The demo as people run it: what it does with signals, and when something of it is killed under it. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { kernelServesWireguard } from "./support.ts";

/** A demo that runs, and what it has printed. */
class RunningDemo {
  readonly process: ChildProcess;
  output = "";

  constructor(...flags: string[]) {
    this.process = spawn(process.execPath, [join(process.cwd(), "dist/lab.cjs"), "demo", ...flags]);
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on("data", (data: Buffer) => {
        this.output += data.toString();
      });
    }
  }

  async prints(pattern: RegExp, patience: number): Promise<RegExpExecArray> {
    const deadline = Date.now() + patience;
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found;
      assert.ok(Date.now() < deadline, `${pattern} is not in:\n${this.output}`);
      await sleep(20);
    }
  }

  async end(): Promise<number | null> {
    if (this.process.exitCode === null) await once(this.process, "exit");
    return this.process.exitCode;
  }

  /** Process ids that stand behind `nsenter -t` or `kill` in a line with these words. */
  pid(command: string, comment: RegExp): number {
    const line = this.output.split("\n").find((text) => text.includes(command) && comment.test(text));
    const pid = /\d{2,}/.exec(line ?? "")?.[0];
    assert.ok(pid !== undefined, `no ${command} in:\n${this.output}`);
    return Number(pid);
  }

  get leftovers(): string[] {
    return readdirSync("/tmp").filter((name) => name.startsWith(`kilomesh-lab.${this.process.pid}.`));
  }
}

before(() => {
  execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "ignore" });
});

test("Ctrl-C while it starts is heeded at once, at whatever step", async () => {
  for (const step of ["network namespaces", "API server", "kg on every node", "waiting for paths"]) {
    const demo = new RunningDemo();
    // A step is printed when it has ended: the one after it goes on.
    await demo.prints(new RegExp(step), 40_000);
    const asked = Date.now();
    demo.process.kill("SIGINT");
    assert.equal(await demo.end(), 130, demo.output);
    assert.ok(Date.now() - asked < 2000, `${step}: ${Date.now() - asked} ms`);
    assert.match(demo.output, /removing everything.*\nlab: stopped; nothing is left\n$/);
    assert.deepEqual(demo.leftovers, []);
  }
});

test("WIREGUARD=kernel works where the kernel has WireGuard, and fails elsewhere before anything is built", async () => {
  const served = kernelServesWireguard();
  const demo = new RunningDemo("--once", "--wireguard=kernel");
  const status = await demo.end();
  assert.equal(status, served ? 0 : 1, demo.output);
  if (served) return assert.match(demo.output, /demo: (\d+)\/\1 paths ok/);
  assert.match(demo.output, /\nlab: cannot use the kernel's WireGuard: .*modprobe wireguard/);
  assert.doesNotMatch(demo.output, /network namespaces, cables/);
});

describe("a demo that stays up", () => {
  let demo: RunningDemo;

  before(async () => {
    demo = new RunningDemo();
    await demo.prints(/logs: /, 60_000);
  });

  after(() => demo?.process.kill("SIGKILL"));

  test("a kg that is killed is started again, one that is stopped is not", async () => {
    process.kill(demo.pid("kill -9", /# kg of north-1/), "SIGKILL");
    await demo.prints(/kg on north-1 was killed; starting it again/, 5000);
    process.kill(demo.pid("kill -TERM", /# kg of north-2/), "SIGTERM");
    await demo.prints(/kg on north-2 was stopped and stays so/, 5000);
  });

  test("the line for clean-up cleans up", async () => {
    const line = /nsenter -t \d+ -a \S+ clean-up .*--hostname=north-2.*/.exec(demo.output)?.[0] ?? "";
    assert.match(execFileSync("sh", ["-c", line]).toString(), /clean; the private key is kept\n$/);
  });

  test("a host whose first process is killed is started again, with kg and a pod", async () => {
    process.kill(demo.pid("kill -9", /# south-1 loses power/), "SIGKILL");
    await demo.prints(/south-1 has lost power/, 5000);
    await demo.prints(/south-1 is up again/, 15_000);
  });

  test("without its API server it ends by itself, says why, and leaves nothing", async () => {
    const [folder] = demo.leftovers;
    const server = execFileSync("pgrep", ["-f", `^[^ ]*node .*lab.cjs apiserver /tmp/${folder}/`])
      .toString()
      .trim();
    process.kill(Number(server), "SIGKILL");
    assert.equal(await demo.end(), 1, demo.output);
    assert.match(demo.output, /The API server has ended/);
    assert.deepEqual(demo.leftovers, []);
  });
});
