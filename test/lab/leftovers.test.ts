import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { changedSince, traces } from "../../bench/claims/traces.ts";
import { Lab, ScenarioError } from "../../src/lab/index.ts";
import { THREE_PLACES } from "./stand-in.ts";
import { standInOptions } from "./support.ts";

interface Traces {
  readonly folder: string;
  readonly networks: readonly string[];
  /** Process id of a program that the lab started and waits for. */
  readonly stoppable: number;
}

describe("nothing is left", () => {
  test("when the lab is killed", async () => {
    const { lab, traces } = await startLab();
    lab.kill("SIGKILL");
    await once(lab, "exit");
    await assertNothingLeft(traces);
  });

  test("when the lab is killed and a program in it is stopped", async () => {
    const { lab, traces } = await startLab();
    for (const pid of processesIn(traces.networks)) {
      if (readOr(() => readFileSync(`/proc/${pid}/comm`, "utf8")) === "wireguard-go\n")
        process.kill(Number(pid), "SIGSTOP");
    }
    process.kill(traces.stoppable, "SIGSTOP");
    await sleep(50);
    lab.kill("SIGKILL");
    await once(lab, "exit");
    await assertNothingLeft(traces);
  });

  test("after Ctrl-C", async () => {
    const { lab, traces } = await startLab();
    lab.kill("SIGINT");
    const [status] = await once(lab, "exit");
    assert.equal(status, 0);
    await assertNothingLeft(traces);
  });

  test("when a program in it is stopped", async () => {
    const lab = await Lab.start(THREE_PLACES, await standInOptions([]));
    const networks = lab.hosts.map((host) => readlinkSync(`/proc/${host.site.pid}/ns/net`));
    const daemon = await lab.host("n1").startDaemon("sleeper", ["sleep", "1000"]);
    daemon.signal("SIGSTOP");
    await sleep(50);
    await lab.stop();
    await assertNothingLeft({ folder: lab.state.path, networks, stoppable: 0 }, 0);
  });

  test("when the lab is killed while it builds", async () => {
    const lab = spawnLab();
    await sleep(250);
    lab.kill("SIGKILL");
    await once(lab, "exit");
    await sleep(1000);
    assert.deepEqual(foldersOf(lab.pid), []);
    assert.deepEqual(processesThatMention(`kilomesh-lab.${lab.pid}.`), []);
  });

  test("when a scenario cannot be built", async () => {
    const twice = {
      name: "twice",
      hosts: [
        { name: "a", public: "203.0.113.1" },
        { name: "a", public: "203.0.113.2" },
      ],
    };
    await assert.rejects(Lab.start(twice, await standInOptions([])), ScenarioError);
    assert.deepEqual(foldersOf(process.pid), []);
  });

  test("by a lab that ended in order, however often it is stopped", async () => {
    const lab = await Lab.start(THREE_PLACES, await standInOptions([]));
    const networks = lab.hosts.map((host) => readlinkSync(`/proc/${host.site.pid}/ns/net`));
    await Promise.all([lab.stop(), lab.stop()]);
    await assertNothingLeft({ folder: lab.state.path, networks, stoppable: 0 }, 0);
  });
});

test("what the claim about things left behind looks at has a running lab in it, and not one that ended", async () => {
  const before = traces();
  const lab = await Lab.start(THREE_PLACES, await standInOptions([]));
  const [host] = lab.hosts;
  assert.ok(host !== undefined);
  const network = `network namespace ${readlinkSync(`/proc/${host.site.pid}/ns/net`)}`;
  const folder = `folder ${lab.state.path}`;
  const seen = await changedSince(before, 0);
  await lab.stop();
  assert.ok(seen.includes(network) && seen.includes(folder), seen.join("\n"));
  const left = await changedSince(before, 0);
  assert.ok(!left.includes(network) && !left.includes(folder), left.join("\n"));
});

async function startLab(): Promise<{ lab: ChildProcess; traces: Traces }> {
  await bundled();
  const lab = spawnLab();
  assert.ok(lab.stdout !== null);
  const [line] = (await once(createInterface({ input: lab.stdout }), "line")) as [string];
  const traces = JSON.parse(line) as Traces;
  // Else the test would see nothing because it looks for the wrong things.
  assert.ok(processesIn(traces.networks).length > 10);
  assert.ok(processesThatMention(traces.folder).length > 0);
  return { lab, traces };
}

function spawnLab(): ChildProcess {
  return spawn(process.execPath, [PROGRAM], { stdio: ["ignore", "pipe", "inherit"] });
}

const PROGRAM = join(process.cwd(), ".build", "lab-to-kill.mjs");

async function bundled(): Promise<void> {
  await build({
    entryPoints: [join(process.cwd(), "test/lab/lab-to-kill.ts")],
    outfile: PROGRAM,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
}

/** @param patience milliseconds in which everything has to be gone */
async function assertNothingLeft(traces: Traces, patience = 5000): Promise<void> {
  const deadline = Date.now() + patience;
  // Who removes the folder mentions it, and ends after that.
  const isLeft = (): boolean =>
    existsSync(traces.folder) ||
    processesIn(traces.networks).length > 0 ||
    processesThatMention(traces.folder).length > 0;
  while (isLeft() && Date.now() < deadline) await sleep(20);
  assert.equal(existsSync(traces.folder), false, "the folder is left");
  assert.deepEqual(processesIn(traces.networks), [], "processes are left in its networks");
  assert.deepEqual(processesThatMention(traces.folder), [], "processes are left");
  const links = execFileSync("ip", ["-o", "link"]).toString();
  assert.doesNotMatch(links, / (n1|s1|h1|wan|lan|kilo0|kube-bridge)[@:]/);
  const mounts = readFileSync("/proc/mounts", "utf8");
  assert.ok(!mounts.includes(traces.folder), "mounts are left");
}

function processes(): string[] {
  return readdirSync("/proc").filter((entry) => /^\d+$/.test(entry) && entry !== String(process.pid));
}

function processesIn(networks: readonly string[]): string[] {
  return processes().filter((pid) => networks.includes(readOr(() => readlinkSync(`/proc/${pid}/ns/net`))));
}

function processesThatMention(text: string): string[] {
  return processes().filter((pid) =>
    readOr(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")).includes(text),
  );
}

function foldersOf(pid: number | undefined): string[] {
  return readdirSync("/tmp").filter((name) => name.startsWith(`kilomesh-lab.${pid}.`));
}

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
