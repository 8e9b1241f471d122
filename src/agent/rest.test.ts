/** Promise 1: a pass with nothing to do does nothing. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { keyOf, nodeOf, peerOf } from "./cluster.test-kit.ts";
import { holdClock, releaseClock, Stage, threeNodes } from "./stage.test-kit.ts";

describe("an agent at rest", () => {
  let stage: Stage;

  beforeEach(() => {
    holdClock();
    stage = new Stage({ peers: [peerOf("lap", { publicKey: keyOf(9), allowedIPs: ["10.5.0.1/32"] })] });
  });

  afterEach(async () => {
    await stage.agent.stop();
    releaseClock();
  });

  it("converges in one apply and one write", async () => {
    await stage.converge();
    assert.equal(stage.applied.length, 1);
    assert.equal(stage.cluster.writes.length, 1);
    assert.deepEqual(
      stage.device.peers.map(({ publicKey }) => publicKey).sort(),
      [keyOf(3), keyOf(9)].sort(),
    );
    const { cluster } = stage;
    assert.equal(cluster.annotationOf("a1", "endpoint"), "198.51.100.1:51820");
    assert.equal(cluster.annotationOf("a1", "internal-ip"), "10.0.1.1/24");
    assert.equal(cluster.annotationOf("a1", "key"), stage.publicKey);
    assert.match(cluster.nodes.get("a1")?.metadata.annotations?.["kilomesh.io/agent"] ?? "", /^1\.0\.0 \d+$/);
  });

  it("a second reconcile and ten resyncs: no mutating call, and no write but one check-in per 30 s", async () => {
    await stage.converge();
    const before = stage.host.counters;
    const passes = stage.metric("kilo_reconciles_total");
    stage.agent.changed("a second reconcile");
    await stage.advance(300_000);
    assert.ok(stage.metric("kilo_reconciles_total") - passes >= 11, "passes did run");
    assert.equal(stage.host.counters.mutations, before.mutations);
    assert.equal(stage.host.counters.applies, before.applies);
    assert.equal(stage.host.counters.cniWrites, before.cniWrites);
    assert.equal(stage.metric("kilomesh_applies_total"), 1);
    assert.equal(stage.metric('kilomesh_api_writes_total{kind="publish"}'), 1);
    assert.equal(stage.metric('kilomesh_api_writes_total{kind="checkin"}'), 10);
    assert.equal(stage.cluster.attempts, 11);
  });

  it("a check-in says last-seen and the agent, and nothing else", async () => {
    await stage.converge();
    await stage.advance(30_000);
    assert.deepEqual(Object.keys(stage.cluster.writes[1] ?? {}).sort(), [
      "kilo.squat.ai/last-seen",
      "kilomesh.io/agent",
    ]);
  });

  it("nothing is applied or written before both first lists are complete", async () => {
    stage.cluster.synced = false;
    stage.agent.start();
    await stage.advance(65_000);
    assert.equal(stage.host.mutations, 0);
    assert.equal(stage.cluster.attempts, 0);
    assert.match(stage.agent.health.reasons().join(), /^sync: waiting for the first complete list/);
    stage.cluster.synced = true;
    stage.cluster.checkInOthers();
    stage.agent.changed("nodes");
    await stage.advance(1_000);
    assert.deepEqual(stage.agent.health.reasons(), []);
    assert.equal(stage.applied.length, 1);
  });

  it("a restart on a configured host changes nothing and rewrites no annotation", async () => {
    await stage.converge();
    const before = { ...stage.host.counters };
    const written = stage.cluster.writes.length;
    await stage.restart();
    await stage.advance(10_000);
    assert.deepEqual(stage.agent.health.reasons(), []);
    assert.equal(stage.host.mutations, before.mutations);
    assert.equal(stage.applied.length, 1);
    const rewritten = stage.cluster.writes.slice(written).flatMap((write) => Object.keys(write));
    assert.deepEqual(
      rewritten.filter((name) => !["kilo.squat.ai/last-seen", "kilomesh.io/agent"].includes(name)),
      [],
    );
  });

  it("a restart finds the host of a stopped agent as it was: the stop removes nothing", async () => {
    await stage.converge();
    const routes = [...stage.host.kernel.routes.keys()];
    const { device } = stage;
    await stage.agent.stop();
    await stage.agent.stop();
    assert.deepEqual([...stage.host.kernel.routes.keys()], routes);
    assert.equal(stage.host.device, device);
  });

  it("S-11: fifty nodes that join within a second are one or two applies, not fifty", async () => {
    await stage.converge();
    for (let number = 0; number < 50; number++) {
      stage.cluster.setNode(
        nodeOf({
          name: `c${number}`,
          location: "C",
          podCIDR: `10.244.${100 + number}.0/24`,
          key: keyOf(100 + number),
          endpoint: `192.0.2.${number + 1}:51820`,
          internalIP: `10.0.3.${number + 1}/24`,
        }),
      );
      await stage.advance(10);
    }
    await stage.advance(2_000);
    assert.ok(stage.applied.length >= 2 && stage.applied.length <= 3, `${stage.applied.length} applies`);
    assert.equal(stage.device.peers.length, 3, "one more peer: the leader of C");
  });

  it("S-12: check-ins of other nodes start no pass", async () => {
    await stage.converge();
    const passes = stage.metric("kilo_reconciles_total");
    for (let number = 0; number < 100; number++) {
      stage.cluster.checkInOthers();
      await stage.advance(100);
    }
    assert.equal(stage.metric("kilo_reconciles_total") - passes, 0);
  });

  it("a node that stops checking in is left out after 60 s, and taken in at its next check-in", async () => {
    await stage.converge();
    stage.cluster.checkInOthers();
    stage.cluster.othersLive = false;
    stage.cluster.setPeer(peerOf("second", { publicKey: keyOf(10), allowedIPs: ["10.5.0.2/32"] }));
    await stage.advance(58_000);
    assert.ok(stage.peer(keyOf(3)));
    for (let second = 0; second < 5; second++) {
      stage.cluster.setPeer(
        peerOf("second", { publicKey: keyOf(10), allowedIPs: [`10.5.0.${3 + second}/32`] }),
      );
      await stage.advance(1_000);
    }
    assert.equal(stage.peer(keyOf(3)), undefined);
    stage.cluster.checkInOthers();
    await stage.advance(1_000);
    assert.ok(stage.peer(keyOf(3)));
  });

  it("a node that falls silent is noticed without any other event but check-ins", async () => {
    await stage.converge();
    stage.cluster.othersLive = false;
    for (let second = 0; second < 70; second += 5) {
      stage.cluster.annotate("a2", { "kilo.squat.ai/last-seen": String(Math.floor(Date.now() / 1000)) });
      await stage.advance(5_000);
    }
    assert.equal(stage.peer(keyOf(3)), undefined);
  });

  it("the same cluster in another order is the same host", async () => {
    await stage.converge();
    const reversed = new Stage({
      nodes: threeNodes().reverse(),
      peers: [...stage.cluster.peers.values()],
    });
    await reversed.converge();
    assert.deepEqual(
      [...reversed.host.kernel.routes.keys()].sort(),
      [...stage.host.kernel.routes.keys()].sort(),
    );
    assert.deepEqual(reversed.host.firewall, stage.host.firewall);
    await reversed.agent.stop();
  });
});
