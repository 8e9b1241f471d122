/** What goes wrong on the host: drift is repaired, failures are told, tried again, and keep nothing else from being done. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { parseInterfaceAddress } from "../ip/index.ts";
import { keyOf } from "./cluster.test-kit.ts";
import { holdClock, releaseClock, Stage } from "./stage.test-kit.ts";

describe("drift", () => {
  let stage: Stage;

  beforeEach(async () => {
    holdClock();
    stage = new Stage();
    await stage.converge();
  });

  afterEach(async () => {
    await stage.agent.stop();
    releaseClock();
  });

  it("a route that somebody deletes comes back at once, by one call", async () => {
    const { kernel } = stage.host;
    const [key] =
      [...kernel.routes].find(([, { route }]) => route.destination.text === "10.244.2.0/24") ?? [];
    assert.ok(key);
    const before = stage.host.mutations;
    stage.host.changedByOthers("routes", () => kernel.routes.delete(key));
    await stage.advance(1_000);
    assert.ok(kernel.routes.has(key));
    assert.equal(stage.host.mutations - before, 1);
  });

  it("the firewall's table is flushed: written anew at once, and nothing else is touched", async () => {
    const { firewall } = stage.host;
    const before = stage.host.mutations;
    stage.host.changedByOthers("firewall", () => {
      stage.host.firewall = undefined;
    });
    await stage.advance(1_000);
    assert.deepEqual(stage.host.firewall, firewall);
    assert.equal(stage.host.mutations - before, 1);
  });

  it("the host gets another address: every peer hears it by WireGuard at once, not when it misses an answer", async () => {
    const move = (text: string) => {
      const address = parseInterfaceAddress(text);
      assert.ok(address);
      stage.host.changedByOthers("links", ({ links }) => {
        const link = links.get("private");
        assert.ok(link);
        link.addresses = [...link.addresses.slice(0, 1), address];
      });
    };
    await stage.advance(60_000);
    assert.deepEqual(stage.announced, [], "at rest nobody is told anything");
    stage.cluster.connection = "mute";
    move("198.51.100.99/24");
    await stage.advance(500);
    assert.deepEqual(stage.announced, [[keyOf(3)]]);
    await stage.advance(60_000);
    assert.equal(stage.announced.length, 1);
  });

  it("the link is deleted: made again with its peers, which are called at once; the unreachable routes never went", async () => {
    const { host } = stage;
    const guards = () =>
      [...host.kernel.routes.values()].filter(({ route }) => route.kind === "unreachable").length;
    const guarded = guards();
    assert.ok(guarded > 0);
    const called = stage.calls.length;
    stage.peersAnswer = false;
    host.changedByOthers("links", (kernel) => kernel.removeLink("mesh"));
    assert.equal(guards(), guarded);
    await stage.advance(1_500);
    assert.ok(stage.peer(keyOf(3)));
    assert.ok(host.kernel.links.get("mesh")?.up);
    assert.ok([...host.kernel.routes.values()].some(({ route }) => route.link === "mesh"));
    assert.deepEqual(stage.agent.health.reasons(), []);
    assert.ok(stage.calls.slice(called).flat().includes(keyOf(3)));
  });

  it("a peer that somebody adds to the device goes with the next look, a foreign route stays", async () => {
    const { host } = stage;
    const [own] = stage.device.peers;
    assert.ok(own);
    host.device = {
      ...stage.device,
      peers: [...stage.device.peers, { ...own, publicKey: keyOf(77), allowedIPs: [] }],
    };
    const [some] = host.kernel.routes.values();
    assert.ok(some);
    host.kernel.routes.set("foreign", { ...some, protocol: 4 });
    await stage.advance(31_000);
    assert.equal(stage.peer(keyOf(77)), undefined);
    assert.ok(host.kernel.routes.has("foreign"));
  });

  it("events without a difference cost nothing but reading", async () => {
    const before = stage.host.mutations;
    for (const kind of ["links", "routes", "rules", "firewall", "overrun"] as const) {
      stage.host.changedByOthers(kind);
      await stage.advance(1_000);
    }
    assert.equal(stage.host.mutations, before);
  });
});

describe("a host that refuses", () => {
  beforeEach(holdClock);
  afterEach(releaseClock);

  it("a route that cannot be set: health says which and why, it is tried again and told once; the rest is done", async () => {
    const stage = new Stage();
    stage.host.failWhen((operation) =>
      /add route 10\.244\.2\.0\/24 via/.test(operation)
        ? new Error(`cannot ${operation}: out of memory`)
        : undefined,
    );
    stage.agent.start();
    await stage.advance(20_000);
    assert.match(stage.agent.health.reasons().join(), /^apply: .*10\.244\.2\.0\/24.*out of memory/);
    assert.ok(stage.peer(keyOf(3)), "WireGuard is configured");
    assert.ok(stage.host.firewall, "the firewall too");
    assert.equal(stage.cluster.annotationOf("a1", "key"), stage.publicKey, "and the node is announced");
    assert.equal(stage.warnings().filter(({ msg }) => msg === "cannot apply").length, 1);
    assert.ok(stage.metric('kilo_errors_total{event="apply"}') >= 3, "it was tried again and again");

    stage.host.failWhen(undefined);
    await stage.advance(31_000);
    assert.deepEqual(stage.agent.health.reasons(), []);
    assert.equal(stage.lines.filter(({ msg }) => msg === "no longer: cannot apply").length, 1);
    await stage.agent.stop();
  });

  it("retries of what fails slow down, and send only what is missing", async () => {
    const stage = new Stage();
    stage.host.failWhen((operation) => (/firewall/.test(operation) ? new Error("nft is broken") : undefined));
    stage.agent.start();
    await stage.advance(5_000);
    const settled = stage.host.mutations;
    const applies = stage.applied.length;
    const told = stage.metric("kilomesh_applies_total");
    await stage.advance(300_000);
    assert.equal(stage.host.mutations, settled);
    assert.equal(
      stage.metric("kilomesh_applies_total"),
      told,
      "a try that changes nothing is not told as a change",
    );
    assert.ok(stage.applied.length - applies <= 60, `${stage.applied.length - applies} tries in 300 s`);
    await stage.agent.stop();
  });

  it("K-62: a firewall that cannot be written stops neither WireGuard nor routes, also of nodes that come later", async () => {
    const stage = new Stage();
    stage.host.failWhen((operation) =>
      /firewall/.test(operation) ? new Error(`cannot ${operation}: table filter is incompatible`) : undefined,
    );
    stage.agent.start();
    await stage.advance(3_000);
    assert.match(stage.agent.health.reasons().join(), /^apply: .*firewall.*incompatible/);
    assert.ok(stage.peer(keyOf(3)));
    stage.cluster.annotate("b1", { "kilo.squat.ai/endpoint": "203.0.113.77:51820" });
    await stage.advance(1_000);
    assert.equal(stage.endpointOf(keyOf(3)), "203.0.113.77:51820");
    const destinations = [...stage.host.kernel.routes.values()].map(({ route }) => route.destination.text);
    assert.ok(destinations.includes("10.244.2.0/24"));
    await stage.agent.stop();
  });

  it("a host that cannot be read at all: nothing is changed, health says why, and it goes on by itself", async () => {
    const stage = new Stage();
    await stage.converge();
    const before = stage.host.mutations;
    const read = stage.host.read.bind(stage.host);
    stage.host.read = async () => {
      throw new Error("cannot list routes: Too many open files");
    };
    stage.host.changedByOthers("routes");
    await stage.advance(5_000);
    assert.match(stage.agent.health.reasons().join(), /^apply: cannot list routes/);
    assert.equal(stage.host.mutations, before);
    stage.host.read = read;
    await stage.advance(31_000);
    assert.deepEqual(stage.agent.health.reasons(), []);
    await stage.agent.stop();
  });
});

describe("a node that is not complete", () => {
  beforeEach(holdClock);
  afterEach(releaseClock);

  it("K-69: without a pod CIDR it announces itself, waits, and says for what", async () => {
    const stage = new Stage();
    const own = stage.cluster.nodes.get("a1");
    assert.ok(own);
    stage.cluster.setNode({ ...own, spec: {} });
    stage.agent.start();
    await stage.advance(5_000);
    assert.match(
      stage.agent.health.reasons().join(),
      /^device: this node takes no part in the mesh: .*podCIDR/,
    );
    assert.equal(stage.cluster.annotationOf("a1", "key"), stage.publicKey);
    const [now] = [stage.cluster.nodes.get("a1")];
    assert.ok(now);
    stage.cluster.setNode({ ...now, spec: { podCIDR: "10.244.0.0/24" } });
    await stage.advance(1_000);
    assert.deepEqual(stage.agent.health.reasons(), []);
    await stage.agent.stop();
  });

  it("no log line and no metric holds the private key", async () => {
    const stage = new Stage();
    await stage.converge();
    await stage.advance(60_000);
    const secret = stage.privateKey.revealText();
    assert.ok(!JSON.stringify(stage.lines).includes(secret));
    assert.ok(!stage.metrics.registry.render().includes(secret));
    assert.ok(!JSON.stringify(stage.cluster.writes).includes(secret));
    await stage.agent.stop();
  });
});
