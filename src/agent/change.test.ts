/** Promise 2: a change about one node or peer never touches another's session. And what makes an agent act at once. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Address, parseAddress } from "../ip/index.ts";
import type { PublicKey } from "../wireguard/index.ts";
import { keyOf, nodeOf, peerOf } from "./cluster.test-kit.ts";
import { holdClock, releaseClock, Stage, threeNodes } from "./stage.test-kit.ts";

const LAPTOP = keyOf(9);

describe("one change", () => {
  let stage: Stage;
  let applies: number;

  beforeEach(async () => {
    holdClock();
    stage = new Stage({
      nodes: [
        ...threeNodes(),
        nodeOf({
          name: "d1",
          location: "D",
          podCIDR: "10.244.4.0/24",
          key: keyOf(5),
          endpoint: "203.0.113.4:51820",
          internalIP: "10.0.4.1/24",
        }),
      ],
      peers: [peerOf("lap", { publicKey: LAPTOP, allowedIPs: ["10.5.0.1/32"] })],
    });
    await stage.converge();
    applies = stage.applied.length;
  });

  afterEach(async () => {
    await stage.agent.stop();
    releaseClock();
  });

  /** At most this key was named in what was applied since the beginning of the test. */
  function touched(): PublicKey[] {
    return [...new Set(stage.touchedSince(applies))];
  }

  it("a node of a new place joins: its peer is added, no other is named (K-04)", async () => {
    const before = stage.device.peers;
    stage.cluster.setNode(
      nodeOf({
        name: "e1",
        location: "E",
        podCIDR: "10.244.5.0/24",
        key: keyOf(6),
        endpoint: "203.0.113.5:51820",
        internalIP: "10.0.5.1/24",
      }),
    );
    await stage.advance(2_000);
    assert.deepEqual(touched(), [keyOf(6)]);
    for (const peer of before)
      assert.deepEqual(stage.peer(peer.publicKey), peer, "untouched, in every field");
  });

  it("a node leaves: its peer is removed, no other is named", async () => {
    stage.cluster.removeNode("d1");
    await stage.advance(2_000);
    assert.deepEqual(touched(), [keyOf(5)]);
    assert.equal(stage.peer(keyOf(5)), undefined);
  });

  it("a node of the own place joins: no peer is named at all", async () => {
    stage.cluster.setNode(
      nodeOf({
        name: "a3",
        location: "A",
        podCIDR: "10.244.3.0/24",
        key: keyOf(7),
        endpoint: "10.0.1.3:51820",
        internalIP: "10.0.1.3/24",
      }),
    );
    await stage.advance(2_000);
    assert.deepEqual(touched(), []);
    assert.ok(
      [...stage.host.kernel.routes.values()].some(({ route }) => route.destination.text === "10.244.3.0/24"),
    );
  });

  it("an endpoint changes: one peer, one field, one call", async () => {
    const before = stage.host.mutations;
    stage.cluster.annotate("b1", { "kilo.squat.ai/endpoint": "203.0.113.77:51820" });
    await stage.advance(2_000);
    assert.equal(stage.endpointOf(keyOf(3)), "203.0.113.77:51820");
    assert.equal(stage.host.mutations - before, 1);
    const [change] = stage.applied.slice(applies);
    assert.deepEqual(Object.keys(change?.device?.peers[0] ?? {}).sort(), ["endpoint", "kind", "publicKey"]);
    assert.deepEqual(touched(), [keyOf(3)]);
  });

  it("a Peer comes, changes and goes: only it is named", async () => {
    const other = keyOf(10);
    stage.cluster.setPeer(peerOf("other", { publicKey: other, allowedIPs: ["10.5.0.2/32"] }));
    await stage.advance(2_000);
    assert.ok(stage.peer(other));
    stage.cluster.setPeer(peerOf("other", { publicKey: other, allowedIPs: ["10.5.0.3/32"] }));
    await stage.advance(2_000);
    stage.cluster.removePeer("other");
    await stage.advance(2_000);
    assert.equal(stage.peer(other), undefined);
    assert.deepEqual(touched(), [other]);
  });

  it("a check-in of everybody is no change", async () => {
    const before = stage.host.mutations;
    stage.cluster.checkInOthers();
    await stage.advance(2_000);
    assert.equal(stage.host.mutations, before);
  });

  it("the leader of another place changes: two peers are named, no third", async () => {
    stage.cluster.setNode(
      nodeOf({
        name: "b0",
        location: "B",
        podCIDR: "10.244.6.0/24",
        key: keyOf(8),
        endpoint: "203.0.113.6:51820",
        internalIP: "10.0.2.2/24",
        annotations: { leader: "true" },
      }),
    );
    await stage.advance(2_000);
    assert.deepEqual(touched().sort(), [keyOf(3), keyOf(8)].sort());
  });

  it("K-17: a keepalive that changes by annotation takes effect at once, without a restart", async () => {
    stage.cluster.annotate("a1", { "kilo.squat.ai/persistent-keepalive": "25" });
    await stage.advance(1_000);
    for (const name of [3, 5]) assert.equal(stage.peer(keyOf(name))?.persistentKeepalive, 25);
    assert.equal(stage.peer(LAPTOP)?.persistentKeepalive, 0, "K-18: a Peer has its own");
  });

  it("K-01: an endpoint that WireGuard learned is kept, through every resync", async () => {
    stage.hear(keyOf(3), "203.0.113.9:40001");
    await stage.advance(95_000);
    assert.equal(stage.endpointOf(keyOf(3)), "203.0.113.9:40001");
    assert.deepEqual(touched(), []);
  });

  it("K-07: a node that says it has no endpoint is waited for, not left out", async () => {
    stage.cluster.annotate("b1", {
      "kilo.squat.ai/endpoint": "",
      "kilo.squat.ai/force-endpoint": "-",
      "kilo.squat.ai/persistent-keepalive": "10",
    });
    const fresh = new Stage({ nodes: [...stage.cluster.nodes.values()].map(withoutOwn) });
    await fresh.converge();
    assert.equal(fresh.endpointOf(keyOf(3)), undefined);
    assert.ok(fresh.peer(keyOf(3)), "it takes part");
    await fresh.agent.stop();
  });

  it("a bad Peer harms nobody else, and is named once", async () => {
    stage.cluster.setPeer(peerOf("broken", { publicKey: "not a key", allowedIPs: ["10.5.0.9/32"] }));
    await stage.advance(95_000);
    assert.deepEqual(touched(), []);
    assert.deepEqual(stage.agent.health.reasons(), []);
    const told = stage.warnings().filter(({ object }) => object === "Peer/broken");
    assert.deepEqual(told.map(({ msg }) => msg).sort(), ["peer-without-key"]);
    assert.equal(stage.metric('kilomesh_problems{reason="peer-without-key"}'), 1);
    stage.cluster.removePeer("broken");
    await stage.advance(2_000);
    const gone = stage.lines.filter(
      (line) => line.object === "Peer/broken" && String(line.msg).startsWith("no longer: "),
    );
    assert.equal(gone.length, 1);
    assert.equal(stage.metric('kilomesh_problems{reason="peer-without-key"}'), 0);
  });
});

describe("what is learned", () => {
  beforeEach(holdClock);
  afterEach(releaseClock);

  it("an endpoint of a node behind NAT is published within a second, and not again while it stays", async () => {
    const stage = new Stage({ nodes: behindNat() });
    stage.peersAnswer = false;
    stage.agent.start();
    await stage.advance(5_000);
    const written = stage.cluster.writes.length;
    stage.hear(keyOf(3), "198.18.0.9:4009");
    await stage.advance(1_200);
    assert.equal(stage.cluster.writes.length, written + 1);
    assert.deepEqual(JSON.parse(stage.cluster.annotationOf("a1", "discovered-endpoints") ?? ""), {
      [keyOf(3)]: { IP: "198.18.0.9", Port: 4009, Zone: "" },
    });
    await stage.advance(25_000);
    assert.equal(stage.cluster.writes.length, written + 1);
    await stage.agent.stop();
  });

  it("a laptop that got another port is called where others hear it, at the next resync, not when the old session ends", async () => {
    const stage = new Stage({
      nodes: threeNodes(),
      peers: [peerOf("lap", { publicKey: LAPTOP, allowedIPs: ["10.5.0.1/32"], persistentKeepalive: 10 })],
    });
    await stage.converge();
    stage.hear(LAPTOP, "198.18.0.7:4007");
    await stage.advance(31_000);
    assert.match(stage.cluster.annotationOf("a1", "discovered-endpoints") ?? "", /4007/);
    stage.mute.add(LAPTOP);
    stage.cluster.annotate("b1", {
      "kilo.squat.ai/discovered-endpoints": JSON.stringify({ [LAPTOP]: { IP: "198.18.0.7", Port: 5007 } }),
    });
    await stage.advance(61_000);
    assert.equal(stage.endpointOf(LAPTOP), "198.18.0.7:5007");
    assert.doesNotMatch(stage.cluster.annotationOf("a1", "discovered-endpoints") ?? "", /4007/);
    await stage.agent.stop();
  });

  it("K-03: an endpoint without a handshake is not published", async () => {
    const stage = new Stage({ nodes: behindNat() });
    stage.peersAnswer = false;
    await stage.converge();
    await stage.advance(10_000);
    assert.equal(stage.cluster.annotationOf("a1", "discovered-endpoints"), "{}");
    await stage.agent.stop();
  });

  it("peers that never answer are called a few times more than WireGuard does, then no more", async () => {
    const stage = new Stage({ nodes: behindNat() });
    stage.peersAnswer = false;
    await stage.converge();
    await stage.advance(60_000);
    const calls = stage.calls.flat().filter((key) => key === keyOf(3)).length;
    assert.ok(calls >= 4 && calls <= 12, `${calls} calls`);
    assert.equal(stage.metric("kilomesh_silent_peers"), 1);
    await stage.agent.stop();
  });
});

describe("a Peer with a name", () => {
  beforeEach(holdClock);
  afterEach(releaseClock);

  it("K-13: its changed address is on the device at once, and an unchanged answer writes nothing", async () => {
    let answer = "198.18.1.1";
    const stage = new Stage({
      peers: [named("home.example")],
      resolve: () => addresses(answer),
    });
    await stage.converge();
    assert.equal(stage.endpointOf(LAPTOP), "198.18.1.1:51820");
    const before = stage.host.mutations;
    stage.agent.changed("name home.example");
    await stage.advance(60_000);
    assert.equal(stage.host.mutations, before);
    answer = "198.18.1.2";
    stage.agent.changed("name home.example");
    await stage.advance(1_000);
    assert.equal(stage.endpointOf(LAPTOP), "198.18.1.2:51820");
    assert.equal(stage.host.mutations - before, 1);
    await stage.agent.stop();
  });

  it("a name without an address stops nobody: its owner is waited for, and named", async () => {
    const stage = new Stage({ peers: [named("nowhere.example")] });
    await stage.converge();
    assert.ok(stage.peer(keyOf(3)));
    assert.ok(stage.peer(LAPTOP));
    assert.equal(stage.endpointOf(LAPTOP), undefined);
    assert.equal(stage.warnings().filter(({ msg }) => msg === "name-unresolved").length, 1);
    await stage.agent.stop();
  });
});

function named(dns: string) {
  return peerOf("home", {
    publicKey: LAPTOP,
    allowedIPs: ["10.5.0.1/32"],
    endpoint: { dnsOrIP: { dns }, port: 51820 },
  });
}

function addresses(...texts: readonly string[]): Address[] {
  return texts.map(parseAddress).filter((address) => address !== undefined);
}

function behindNat() {
  const [a1, a2] = threeNodes();
  assert.ok(a1 && a2);
  const b1 = nodeOf({
    name: "b1",
    location: "B",
    podCIDR: "10.244.2.0/24",
    key: keyOf(3),
    endpoint: "192.168.1.5:51820",
    internalIP: "192.168.1.5/24",
    keepalive: 10,
  });
  return [a1, a2, b1];
}

/** The own node as it was before its agent ran. */
function withoutOwn(node: ReturnType<typeof nodeOf>) {
  const [own] = threeNodes();
  return node.metadata.name === "a1" && own !== undefined ? own : node;
}
