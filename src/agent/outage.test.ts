/** Promises 3 and 8: the mesh outlives the API server and the agents. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { NodeObject } from "../mesh/index.ts";
import { keyOf, nodeOf } from "./cluster.test-kit.ts";
import { holdClock, releaseClock, Stage, threeNodes } from "./stage.test-kit.ts";

describe("an agent without its API server", () => {
  let stage: Stage;

  beforeEach(async () => {
    holdClock();
    stage = new Stage({ nodes: withKeepalive(threeNodes()) });
    await stage.converge();
  });

  afterEach(async () => {
    await stage.agent.stop();
    releaseClock();
  });

  for (const seconds of [35, 55, 90, 3_600]) {
    it(`the API server away for ${seconds} s, and back: nothing is removed, and health stays ready`, async () => {
      await stage.advance(28_000);
      stage.agent.changed("out of step with the others' check-ins");
      const before = stage.host.mutations;
      stage.cluster.connection = "away";
      await stage.advance(seconds * 1_000);
      assert.equal(stage.host.mutations, before);
      assert.deepEqual(stage.agent.health.reasons(), []);
      await stage.reconnect();
      await stage.advance(90_000);
      assert.equal(stage.host.mutations, before);
      assert.deepEqual(stage.agent.health.reasons(), []);
    });
  }

  it("the own check-in comes through before the others' do: nobody is taken for dead", async () => {
    await stage.advance(25_000);
    const before = stage.host.mutations;
    stage.cluster.connection = "away";
    await stage.advance(90_000);
    stage.cluster.othersLive = false;
    stage.cluster.connection = "deaf";
    await stage.advance(10_000);
    await stage.reconnect();
    await stage.advance(10_000);
    assert.equal(stage.host.mutations, before);
  });

  it("writes go through while no watch is live: nobody is taken for dead, and writes stay a check-in per 30 s", async () => {
    const before = stage.host.mutations;
    const written = stage.cluster.writes.length;
    stage.cluster.connection = "deaf";
    stage.hear(keyOf(3), "203.0.113.1:4000");
    for (let second = 0; second < 300; second++) {
      stage.agent.changed("a peer");
      await stage.advance(1_000);
    }
    assert.equal(stage.host.mutations, before);
    assert.match(stage.cluster.annotationOf("a1", "discovered-endpoints") ?? "", /203\.0\.113\.1/);
    assert.ok(stage.cluster.writes.length - written <= 12, `${stage.cluster.writes.length - written} writes`);
    await stage.reconnect();
    await stage.advance(60_000);
    assert.equal(stage.host.mutations, before);
  });

  it("writes are tried again, and told once, while the API server is away", async () => {
    stage.cluster.connection = "away";
    const tried = stage.cluster.attempts;
    await stage.advance(300_000);
    assert.ok(stage.cluster.attempts - tried >= 30, `${stage.cluster.attempts - tried} tries`);
    assert.ok(stage.cluster.attempts - tried <= 400, `${stage.cluster.attempts - tried} tries`);
    assert.equal(stage.warnings().filter(({ msg }) => /cannot write the own Node/.test(msg)).length, 1);
    await stage.reconnect();
    await stage.advance(11_000);
    assert.equal(stage.cluster.annotationOf("a1", "last-seen"), String(lastWrite(stage)));
    assert.ok(Date.now() / 1000 - lastWrite(stage) < 15, "checked in anew");
  });

  it("the API server comes and goes: a second outage in the grace of the first removes nobody", async () => {
    const before = stage.host.mutations;
    for (const seconds of [90, 40, 40]) {
      stage.cluster.connection = "away";
      await stage.advance(seconds * 1_000);
      await stage.reconnect("mute");
    }
    assert.equal(stage.host.mutations, before);
    await stage.reconnect();
    stage.cluster.checkInOthers();
    await stage.advance(90_000);
    assert.equal(stage.host.mutations, before);
  });

  it("an API server that hangs with its connections open empties nothing", async () => {
    const before = stage.host.mutations;
    stage.cluster.connection = "away";
    for (let second = 0; second < 120; second++) {
      stage.agent.changed("drift");
      await stage.advance(1_000);
    }
    assert.equal(stage.host.mutations, before);
  });

  it("a node that dies while the API server is away is left out a minute after it is back", async () => {
    stage.cluster.connection = "away";
    await stage.advance(90_000);
    stage.cluster.removeNode("a2");
    stage.cluster.othersLive = false;
    await stage.reconnect();
    assert.ok(stage.peer(keyOf(3)), "b1 has its grace");
    await stage.advance(91_000);
    assert.equal(stage.peer(keyOf(3)), undefined);
  });

  it("a node that was dead before stays dead through an outage", async () => {
    stage.cluster.othersLive = false;
    await stage.advance(95_000);
    assert.equal(stage.peer(keyOf(3)), undefined);
    const before = stage.host.mutations;
    stage.cluster.connection = "away";
    await stage.advance(90_000);
    await stage.reconnect();
    await stage.advance(30_000);
    assert.equal(stage.peer(keyOf(3)), undefined);
    assert.equal(stage.host.mutations, before);
  });
});

describe("an agent whose clock is wrong by an hour (S-13)", () => {
  afterEach(() => releaseClock());

  for (const othersAhead of [-3_600, 3_600]) {
    it(`keeps its mesh, changes nothing, is told so, and notices who dies: others ${othersAhead} s ahead`, async () => {
      holdClock();
      const stage = new Stage({ nodes: withKeepalive(threeNodes()) });
      stage.cluster.othersAhead = othersAhead;
      stage.cluster.checkInOthers();
      await stage.converge();
      await stage.advance(35_000);
      assert.ok(stage.peer(keyOf(3)), "heard once, b1 is a peer");
      const before = stage.host.mutations;
      await stage.advance(300_000);
      assert.equal(stage.host.mutations, before);
      assert.equal(stage.warnings().filter(({ msg }) => /^clock-(ahead|behind)$/.test(msg)).length, 1);
      stage.cluster.othersLive = false;
      await stage.advance(95_000);
      assert.equal(stage.peer(keyOf(3)), undefined);
      await stage.agent.stop();
    });
  }
});

describe("an agent that starts again while other clocks are wrong (S-13)", () => {
  beforeEach(holdClock);
  afterEach(releaseClock);

  for (const othersAhead of [-120, -3_600, 3_600]) {
    for (const role of ["leader", "follower"]) {
      it(`a ${role}'s restart drops nobody and changes nothing: others ${othersAhead} s ahead`, async () => {
        const stage = new Stage({ nodes: role === "leader" ? threeNodes() : ledByA2() });
        stage.cluster.othersAhead = othersAhead;
        stage.cluster.checkInOthers();
        await stage.converge();
        await stage.advance(65_000);
        const peers = role === "leader" ? [keyOf(3)] : [];
        assert.deepEqual(keysOf(stage), peers);
        const before = stage.host.mutations;
        await stage.restart();
        await stage.advance(120_000);
        assert.deepEqual(keysOf(stage), peers);
        assert.equal(stage.host.mutations, before);
        await stage.agent.stop();
      });
    }

    it(`one that died meanwhile is left out a minute later: others ${othersAhead} s ahead`, async () => {
      const stage = new Stage();
      stage.cluster.othersAhead = othersAhead;
      stage.cluster.checkInOthers();
      await stage.converge();
      await stage.advance(65_000);
      stage.cluster.othersLive = false;
      await stage.restart();
      await stage.advance(45_000);
      assert.deepEqual(keysOf(stage), [keyOf(3)]);
      await stage.advance(50_000);
      assert.deepEqual(keysOf(stage), []);
      await stage.agent.stop();
    });
  }
});

describe("an agent that was stopped", () => {
  beforeEach(holdClock);
  afterEach(releaseClock);

  for (const seconds of [35, 59, 90, 7_200]) {
    it(`all agents stopped for ${seconds} s and started again: nobody is removed`, async () => {
      const stage = new Stage();
      await stage.converge();
      await stage.advance(29_000);
      const before = stage.host.mutations;
      await stage.agent.stop();
      stage.cluster.othersLive = false;
      await stage.advance(seconds * 1_000);
      await stage.restart();
      await stage.advance(5_000);
      stage.cluster.othersLive = true;
      stage.cluster.checkInOthers();
      await stage.advance(120_000);
      assert.equal(stage.host.mutations, before);
      await stage.agent.stop();
    });
  }

  it("a node that never ran before does not wait for a grace: stale nodes are left out at once", async () => {
    const stale = threeNodes().map((node) => {
      const annotations = { ...node.metadata.annotations };
      if (node.metadata.name === "b1") annotations["kilo.squat.ai/last-seen"] = "1000";
      return { ...node, metadata: { ...node.metadata, annotations } };
    });
    const stage = new Stage({ nodes: stale });
    await stage.converge();
    assert.equal(stage.peer(keyOf(3)), undefined);
    await stage.agent.stop();
  });
});

describe("an agent whose own Node is missing", () => {
  beforeEach(holdClock);
  afterEach(releaseClock);

  it("is not ready, says why once, and touches nothing; when the Node comes, it converges", async () => {
    const [own, ...others] = threeNodes();
    assert.ok(own);
    const stage = new Stage({ nodes: others });
    stage.agent.start();
    await stage.advance(65_000);
    assert.match(stage.agent.health.reasons().join(), /^node: there is no Node object "a1"; is --hostname/);
    assert.equal(stage.warnings().length, 1);
    assert.equal(stage.host.mutations, 0);
    assert.equal(stage.cluster.attempts, 0);
    stage.cluster.setNode(own);
    await stage.advance(2_000);
    assert.deepEqual(stage.agent.health.reasons(), []);
    assert.equal(stage.lines.filter(({ msg }) => msg === "no longer: own Node is missing").length, 1);
    await stage.agent.stop();
  });

  it("its own Node vanishes from a running mesh: nothing is removed, and health says so", async () => {
    const stage = new Stage();
    await stage.converge();
    const before = stage.host.mutations;
    stage.cluster.removeNode("a1");
    await stage.advance(90_000);
    assert.match(stage.agent.health.reasons().join(), /^node: there is no Node object/);
    assert.equal(stage.host.mutations, before);
    stage.cluster.setNode(nodeOf({ name: "a1", location: "A", podCIDR: "10.244.0.0/24" }));
    await stage.advance(2_000);
    assert.deepEqual(stage.agent.health.reasons(), []);
    assert.equal(stage.cluster.annotationOf("a1", "key"), stage.publicKey, "announced anew");
    assert.equal(stage.host.mutations, before);
    await stage.agent.stop();
  });
});

/** b1 is behind NAT: what is heard of it is news to others. */
function withKeepalive(nodes: readonly NodeObject[]): NodeObject[] {
  return nodes.map((node) => {
    if (node.metadata.name !== "b1") return node;
    const annotations = { ...node.metadata.annotations, "kilo.squat.ai/persistent-keepalive": "10" };
    return { ...node, metadata: { ...node.metadata, annotations } };
  });
}

/** The host under test, a1, is no leader. */
function ledByA2(): NodeObject[] {
  return threeNodes().map((node) => {
    if (node.metadata.name !== "a2") return node;
    const annotations = { ...node.metadata.annotations, "kilo.squat.ai/leader": "" };
    return { ...node, metadata: { ...node.metadata, annotations } };
  });
}

function keysOf(stage: Stage) {
  return stage.device.peers.map(({ publicKey }) => publicKey);
}

function lastWrite(stage: Stage): number {
  return Number(stage.cluster.writes.at(-1)?.["kilo.squat.ai/last-seen"]);
}
