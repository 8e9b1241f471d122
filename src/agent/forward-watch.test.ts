import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createMemoryHost, type MemoryHost } from "../linux/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { ForwardWatch } from "./forward-watch.ts";
import { createAgentMetrics } from "./metrics.ts";

const DOCKER = "table ip filter chain FORWARD (policy drop)";
const FOREIGN_DROPS =
  "a foreign firewall drops forwarded packets: pods and locations will not reach each other unless it accepts them";

describe("what keeps a host from forwarding", () => {
  let host: MemoryHost;
  let watch: ForwardWatch;
  let lines: { level: string; msg: string }[];
  let looks: number;
  const metrics = createAgentMetrics();

  beforeEach(() => {
    host = createMemoryHost();
    lines = [];
    looks = 0;
    const look = host.foreignForwardDrops.bind(host);
    host.foreignForwardDrops = () => {
      looks++;
      return look();
    };
    const log = createLogger({ level: "info", write: (line) => lines.push(JSON.parse(line)) });
    watch = new ForwardWatch({ host, log, metrics });
  });

  afterEach(() => watch.stop());

  it("a foreign firewall's drop in FORWARD is told once, and when it is gone (K-60)", async () => {
    host.forwarding.drops = [DOCKER];
    watch.start();
    await settle();
    assert.match(lines[0]?.msg ?? "", /a foreign firewall drops forwarded packets/);
    assert.match(metrics.registry.render(), /^kilomesh_foreign_forward_drops 1$/m);
    host.forwarding.drops = [DOCKER];
    await settle();
    assert.equal(lines.length, 1);
    host.forwarding.drops = [];
    await settle();
    assert.equal(lines.length, 2);
    assert.match(lines[1]?.msg ?? "", /^no longer: a foreign firewall/);
  });

  it("a host that does not forward packets is told what to set, and when it does", async () => {
    host.forwarding.isOn = false;
    watch.start();
    await settle();
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [["warn", "the host does not forward packets: set net.ipv4.ip_forward=1"]],
    );
    host.forwarding.isOn = true;
    await settle();
    assert.match(lines[1]?.msg ?? "", /^no longer: the host does not forward/);
  });

  it("at rest nothing is looked for: only at the start and after an event", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
    watch.start();
    watch.start();
    await settle();
    context.mock.timers.tick(3_600_000);
    await settle();
    assert.equal(looks, 1);
    host.forwarding.drops = [DOCKER];
    await settle();
    assert.equal(looks, 2);
    await watch.stop();
    host.forwarding.drops = [];
    await settle();
    assert.equal(looks, 2);
  });

  it("what changes while a look is under way is looked for again", async () => {
    watch.start();
    host.forwarding.drops = [DOCKER];
    host.forwarding.isOn = false;
    await settle();
    assert.deepEqual([looks, lines.length], [2, 2]);
  });

  it("an nft that cannot list does not hide ip_forward=0: both are told once, the look anew with the next event (K-62)", async () => {
    host.foreignForwardDrops = () => Promise.reject(new Error("nft is broken"));
    host.forwarding.isOn = false;
    watch.start();
    await settle();
    const expected = [
      ["warn", "the host does not forward packets: set net.ipv4.ip_forward=1"],
      ["warn", "cannot look whether a foreign firewall drops forwarded packets"],
    ];
    assert.deepEqual(told(), expected);
    host.forwarding.isOn = false;
    await settle();
    assert.deepEqual(told(), expected);
    host.foreignForwardDrops = async () => [DOCKER];
    host.forwarding.isOn = true;
    await settle();
    assert.deepEqual(told().slice(2).sort(), [
      ["info", "no longer: cannot look whether a foreign firewall drops forwarded packets"],
      ["info", "no longer: the host does not forward packets: set net.ipv4.ip_forward=1"],
      ["warn", FOREIGN_DROPS],
    ]);
  });

  it("a switch that cannot be read is told and does not hide a foreign drop", async () => {
    host.forwarding.drops = [DOCKER];
    host.forwardsPackets = () => Promise.reject(new Error("no /proc"));
    watch.start();
    await settle();
    assert.match(lines[0]?.msg ?? "", /^a foreign firewall drops/);
    assert.deepEqual(told().slice(1), [["warn", "cannot look whether the host forwards packets"]]);
  });

  it("a look that fails does not say that what was found before is gone", async () => {
    host.forwarding.drops = [DOCKER];
    watch.start();
    await settle();
    host.foreignForwardDrops = () => Promise.reject(new Error("nft is broken"));
    host.forwarding.drops = [DOCKER];
    await settle();
    assert.deepEqual(
      told().map(([level]) => level),
      ["warn", "warn"],
    );
    assert.match(metrics.registry.render(), /^kilomesh_foreign_forward_drops 1$/m);
  });

  function told(): string[][] {
    return lines.map(({ level, msg }) => [level, msg]);
  }
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
