import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { DEMO, Lab } from "../../src/lab/index.ts";
import { standInOptions } from "./support.ts";

const run = promisify(execFile);

describe("the control plane of a lab", () => {
  let lab: Lab;

  before(async () => {
    lab = await Lab.start(DEMO, await standInOptions([]));
  });

  after(() => lab?.stop());

  test("people reach it with kubectl from the machine", async () => {
    const kubectl = ["--kubeconfig", lab.controlPlane.kubeconfig, "get", "nodes", "-o", "name"];
    const { stdout } = await run("kubectl", kubectl);
    assert.deepEqual(stdout.trim().split("\n"), [
      "node/home-1",
      "node/north-1",
      "node/north-2",
      "node/south-1",
      "node/south-2",
    ]);
  });

  test("every node reaches it with its own credentials, also from behind NAT", async () => {
    for (const node of lab.nodes) {
      const file = "/etc/kubernetes/kubelet.conf";
      const stdout = await node.run([
        "kubectl",
        "--kubeconfig",
        file,
        "get",
        "node",
        node.name,
        "-o",
        "name",
      ]);
      assert.equal(stdout, `node/${node.name}\n`);
    }
  });

  test("Nodes are as a kubelet would make them, Peers have no endpoint", async () => {
    const { items } = await lab.controlPlane.objects();
    const home = items.find((object) => object.metadata.name === "home-1");
    assert.deepEqual(home?.spec, { podCIDR: "10.244.5.0/24", podCIDRs: ["10.244.5.0/24"] });
    assert.ok(home !== undefined);
    assert.deepEqual((home.status as { addresses: unknown }).addresses, [
      { type: "InternalIP", address: "192.168.1.11" },
      { type: "Hostname", address: "home-1" },
    ]);
    const peer = items.find((object) => object.kind === "Peer");
    assert.deepEqual(Object.keys(peer?.spec as object).sort(), [
      "allowedIPs",
      "persistentKeepalive",
      "publicKey",
    ]);
  });

  test("the key of a Peer belongs to its public key", async () => {
    const { items } = await lab.controlPlane.objects();
    const peer = items.find((object) => object.kind === "Peer");
    assert.ok(peer !== undefined);
    const derived = execFileSync("wg", ["pubkey"], { input: lab.controlPlane.peerKey("laptop") })
      .toString()
      .trim();
    assert.equal(derived, (peer.spec as { publicKey: string }).publicKey);
  });

  test("a frozen server does not answer, and does when it is thawed", async () => {
    const node = lab.host("north-1");
    const ask = [
      "kubectl",
      "--kubeconfig",
      "/etc/kubernetes/kubelet.conf",
      "--request-timeout=500ms",
      "get",
      "nodes",
    ];
    const thaw = lab.controlPlane.freeze();
    assert.notEqual((await node.execute(ask)).status, 0);
    thaw();
    assert.equal((await node.execute(ask)).status, 0);
  });
});
