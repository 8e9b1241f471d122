/** What the demo tells people to try, tried: with the programs as they are built, and the flags of the demo but for the default of --wireguard. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import {
  allPairs,
  checkPaths,
  connectPeers,
  crossPairs,
  DEMO,
  DEMO_KG_FLAGS,
  describeFailures,
  fingerprint,
  keepPeersConnected,
  Lab,
  type LabHost,
  type Path,
  type PathEnd,
  type Pod,
  type StreamResult,
  waitForPaths,
  waitUntilStill,
} from "../../src/lab/index.ts";
import { kernelServesWireguard } from "./support.ts";

const run = promisify(execFile);

/** Milliseconds between the pings of a stream. */
const PING_INTERVAL = 10;

/** How many a node of this machine has. */
const DAEMONS = kernelServesWireguard() ? 0 : 1;

describe("what the demo suggests", () => {
  let lab: Lab;
  let pods: Pod[];
  let laptop: PathEnd;
  let keeping: Promise<void>;
  const ended = new AbortController();

  before(async () => {
    execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "ignore" });
    lab = await Lab.start(DEMO, {
      program: join(process.cwd(), "dist/lab.cjs"),
      kg: [join(process.cwd(), "bin/kg")],
    });
    [pods] = await Promise.all([lab.addPodOnEveryNode(), lab.startKg(DEMO_KG_FLAGS)]);
    const [peer] = await connectPeers(lab, DEMO_KG_FLAGS);
    assert.ok(peer !== undefined);
    laptop = peer;
    keeping = keepPeersConnected(lab, { topologyFlags: DEMO_KG_FLAGS, signal: ended.signal });
    await assertAllOk(everyPath(), 30_000);
    await waitUntilStill(lab.nodes);
  });

  after(async () => {
    ended.abort();
    await keeping;
    await lab?.stop();
  });

  function everyPath(): Path[] {
    return [...allPairs(pods), ...crossPairs(pods, [laptop]), ...crossPairs([laptop], pods)];
  }

  function pod(node: string): Pod {
    const found = pods.find((candidate) => candidate.host === node);
    assert.ok(found !== undefined);
    return found;
  }

  async function kubectl(...args: string[]): Promise<string> {
    const { stdout } = await run("kubectl", ["--kubeconfig", lab.controlPlane.kubeconfig, ...args]);
    return stdout;
  }

  /** Streams of pings between places while something is done and for a while after it. */
  async function during(
    change: () => Promise<unknown>,
    settle: number,
    ends: readonly (readonly [Pod | LabHost, Pod])[],
  ): Promise<StreamResult[]> {
    const streams = await Promise.all(ends.map(([from, to]) => lab.stream(from, to.address)));
    await sleep(300);
    await change();
    await sleep(settle);
    return Promise.all(streams.map((stream) => stream.stop()));
  }

  test("--wireguard is left out: a wireguard-go serves where the kernel cannot, and only one on each node", async () => {
    for (const node of lab.nodes) {
      const kind = await node.run(["ip", "-d", "link", "show", "kilo0"]);
      assert.equal(/wireguard/.test(kind), DAEMONS === 0, kind);
      assert.equal(node.processes("wireguard-go").length, DAEMONS, node.name);
    }
  });

  test("kill -9 of kg: no packet is lost, and it converges again without a change", async () => {
    const node = lab.host("north-1");
    const look = await fingerprint(node);
    const [through] = await during(() => node.restartKg(), 4000, [[pod("north-2"), pod("south-1")]]);
    assert.equal(through?.lost, 0);
    assert.equal(await fingerprint(node), look);
  });

  test("kill -TERM of kg: it ends in order, and what it made stands", async () => {
    const node = lab.host("south-2");
    const look = await fingerprint(node);
    const kg = node.kg;
    assert.ok(kg !== undefined);
    const [through] = await during(() => node.stopKg(), 500, [[pod("north-1"), pod("south-2")]]);
    assert.equal(await kg.ended, 0);
    assert.equal(through?.lost, 0);
    assert.equal(await fingerprint(node), look);
    await node.startKg();
  });

  test("kill -9 of wireguard-go: back within 7 s, and no other node loses anything; where the kernel serves there is none to kill", async (context) => {
    const node = lab.host("north-1");
    let killed = 0;
    const [hit, other] = await during(
      async () => {
        killed = node.signalProcesses("wireguard-go", "SIGKILL");
      },
      8000,
      [
        [pod("north-1"), pod("south-1")],
        [pod("south-1"), pod("home-1")],
      ],
    );
    context.diagnostic(`${hit?.lost} of ${hit?.sent} lost on the node, gap ${hit?.longestGap} ms`);
    assert.equal(killed, DAEMONS);
    assert.ok(hit !== undefined);
    assert.equal(hit.lost > 0, killed > 0, "the stream goes through it");
    assert.ok(hit.lost * PING_INTERVAL <= 7000, `${hit.lost} lost`);
    assert.equal(other?.lost, 0);
    await assertAllOk(everyPath(), 20_000);
  });

  test("leader=true: at most 2 s are lost from nodes and from the laptop, then every path is as it was", async (context) => {
    const results = await during(
      () => kubectl("annotate", "node", "north-2", "kilo.squat.ai/leader=true"),
      6000,
      [
        [lab.host("south-1"), pod("north-1")],
        [pod("home-1"), pod("north-2")],
        [lab.host("laptop"), pod("north-1")],
        [lab.host("laptop"), pod("home-1")],
      ],
    );
    context.diagnostic(`lost ${results.map(({ lost }) => lost).join(", ")}`);
    for (const { lost } of results) assert.ok(lost * PING_INTERVAL <= 2000, `${lost} lost`);
    assert.equal(results[3]?.lost, 0, "a session that has nothing to do with it");
    const leader = await lab.host("north-2").run(["ip", "-4", "addr", "show", "kilo0"]);
    assert.match(leader, /10\.4\.0\./);
    await assertAllOk(everyPath(), 20_000);
  });

  test("a region label: the node is a place of its own, and every path goes on", async () => {
    await kubectl("label", "node", "south-2", "--overwrite", "topology.kubernetes.io/region=east");
    await waitUntilStill(lab.nodes);
    const address = await lab.host("south-2").run(["ip", "-4", "addr", "show", "kilo0"]);
    assert.match(address, /10\.4\.0\./);
    await assertAllOk(everyPath(), 20_000);
  });

  test("a flushed firewall is written again", async () => {
    const node = lab.host("south-1");
    const table = ["nft", "-s", "list", "table", "inet", "kilomesh"];
    await waitUntilStill(lab.nodes);
    const before = await node.run(table);
    await lab.faults.flushFirewall(node);
    await untilSame(before, async () => (await node.execute(table)).stdout);
    await assertAllOk(everyPath(), 20_000);
  });

  test("a deleted link is made again, with one wireguard-go", async () => {
    const node = lab.host("south-1");
    const look = [
      "sh",
      "-c",
      "wg show kilo0 allowed-ips | sort; ip route show dev kilo0; ip -br -4 addr show kilo0",
    ];
    const before = await node.run(look);
    const daemons = node.processes("wireguard-go").length;
    await lab.faults.deleteLink(node, "kilo0");
    await untilSame(before, async () => (await node.execute(look)).stdout);
    await assertAllOk(everyPath(), 20_000);
    assert.equal(node.processes("wireguard-go").length, daemons);
  });

  test("kg plan of the cluster says what a second peer needs", async () => {
    const objects = await kubectl("get", "nodes,peers", "-o", "json");
    const kg = join(process.cwd(), "bin/kg");
    const plan = execFileSync(kg, ["plan", "-f", "-", "--peer", "laptop", ...DEMO_KG_FLAGS], {
      input: objects,
    });
    assert.match(plan.toString(), /Node north-2, leader of location:north/);
  });

  test("kubectl delete peer: the laptop is out, and nobody else loses anything", async () => {
    const [others] = await during(() => kubectl("delete", "peer", "laptop"), 2000, [
      [pod("south-1"), pod("north-1")],
    ]);
    assert.equal(others?.lost, 0);
    const checked = await checkPaths(crossPairs([laptop], pods), { timeout: 500 });
    assert.deepEqual(
      checked.filter((path) => path.result.ok),
      [],
    );
  });
});

async function untilSame(wanted: string, look: () => Promise<string>): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (let seen = await look(); seen !== wanted; seen = await look()) {
    assert.ok(Date.now() < deadline, `not as it was:\n${seen}\nwanted:\n${wanted}`);
    await sleep(200);
  }
}

async function assertAllOk(paths: readonly Path[], deadline: number): Promise<void> {
  assert.equal(describeFailures(await waitForPaths(paths, { deadline })), "");
}
