/** Real kubectl against the embedded API server: what the demo tells people to try, and that it means the same here. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type ApiServer, makeCertificates, startApiServer } from "../../src/lab/apiserver/index.ts";
import { PEER_CRD } from "./peer-crd.ts";

const KEY = "GY5aT1N9dTR/nJnT1N2f4ClZWVj0jOAld0r8ysWLyjg=";

const NODE = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "cloud-a-1", labels: { "topology.kubernetes.io/region": "cloud-a" } },
  spec: { podCIDR: "10.42.0.0/24" },
  status: {
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    conditions: [{ type: "Ready", status: "True" }],
    nodeInfo: { kubeletVersion: "v1.35.0", osImage: "lab" },
  },
};

/** What a command left behind. */
interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** kubectl starts in 0.1 s; a machine under load needs more, one that hangs needs a limit. */
const LIMIT_MS = 30_000;

describe("kubectl", () => {
  let folder: string;
  let server: ApiServer;
  let kubectl: string;
  const running: ChildProcess[] = [];

  before(async () => {
    kubectl = execFileSync("sh", ["scripts/kubectl.sh"], {
      encoding: "utf8",
      env: { ...process.env, KILOMESH_KUBECTL: "fetched" },
    }).trim();
    folder = await mkdtemp(join(tmpdir(), "kubectl-"));
    const { ca, server: tls } = await makeCertificates(folder);
    const tokens = { "admin-token": { name: "admin", groups: ["system:masters"] } };
    server = await startApiServer({ tls, tokens, objects: [PEER_CRD, NODE] });
    const cluster = { server: server.url, "certificate-authority-data": Buffer.from(ca).toString("base64") };
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "lab" },
      clusters: [{ name: "lab", cluster }],
      users: [{ name: "admin", user: { token: "admin-token" } }],
      contexts: [{ name: "lab", context: { cluster: "lab", user: "admin" } }],
    };
    await writeFile(join(folder, "config"), JSON.stringify(config));
  });

  after(async () => {
    for (const child of running) child.kill();
    await server.close();
    await rm(folder, { recursive: true });
  });

  function start(args: readonly string[]): ChildProcess {
    const own = ["--kubeconfig", join(folder, "config"), "--cache-dir", join(folder, "cache")];
    const child = spawn(kubectl, [...own, ...args], { timeout: LIMIT_MS });
    running.push(child);
    return child;
  }

  async function run(args: string, input = ""): Promise<Ran> {
    const child = start(args.split(" "));
    let out = "";
    let err = "";
    child.stdout?.on("data", (text) => {
      out += text;
    });
    child.stderr?.on("data", (text) => {
      err += text;
    });
    child.stdin?.end(input);
    const code = await new Promise<number>((resolve) => child.on("close", (exit) => resolve(exit ?? -1)));
    return { code, out, err };
  }

  async function ok(args: string, input = ""): Promise<string> {
    const { code, out, err } = await run(args, input);
    assert.equal(code, 0, `kubectl ${args}: ${err}`);
    return out;
  }

  function peerYaml(allowedIP: string, more = ""): string {
    const head = "apiVersion: kilo.squat.ai/v1alpha1\nkind: Peer\nmetadata: {name: laptop}\n";
    return `${head}spec: {allowedIPs: [${allowedIP}]${more}}\n`;
  }

  const valid = (allowedIP: string): string =>
    peerYaml(allowedIP, `, publicKey: "${KEY}", persistentKeepalive: 10`);

  const laptop = () => server.get({ apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer", name: "laptop" });

  it("is 1.35, the one that is tested with", async () => {
    assert.match(
      await ok("version"),
      /Client Version: v1\.35\.\d+[\s\S]*Server Version: v1\.35\.0\+kilomesh-lab/,
    );
  });

  it("get nodes, also wide, shows the columns of a real cluster", async () => {
    const [head = "", row = ""] = (await ok("get nodes")).split("\n");
    assert.deepEqual(head.split(/\s+/), ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]);
    assert.match(row, /^cloud-a-1 +Ready +<none> +\d+s +v1\.35\.0$/);
    const wide = await ok("get nodes -o wide");
    assert.match(wide, /INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME/);
    assert.match(wide, /10\.0\.0\.1 +<none> +lab/);
  });

  it("get nodes -o yaml and -o json give the whole object", async () => {
    assert.match(await ok("get nodes -o yaml"), /kind: Node[\s\S]*podCIDR: 10\.42\.0\.0\/24/);
    const node = JSON.parse(await ok("get node cloud-a-1 -o json"));
    assert.deepEqual([node.kind, node.status.addresses], ["Node", NODE.status.addresses]);
    assert.match(
      await ok("get nodes -L topology.kubernetes.io/region -l topology.kubernetes.io/region=cloud-a"),
      /cloud-a$/m,
    );
    assert.match(await ok("get nodes --sort-by=.metadata.name"), /cloud-a-1/);
  });

  it("describe node shows labels, addresses and events", async () => {
    // kubectl looks for the events of a node by its name in the place of the uid, as the kubelet writes them, and by its uid.
    const involvedObject = { kind: "Node", name: "cloud-a-1", uid: "cloud-a-1" };
    const event = { involvedObject, reason: "PeerLeftOut", type: "Warning", message: "told", count: 1 };
    const metadata = { name: "e1", namespace: "default" };
    server.put({
      apiVersion: "v1",
      kind: "Event",
      metadata,
      ...event,
      lastTimestamp: new Date().toISOString(),
    });
    const described = await ok("describe node cloud-a-1");
    assert.match(described, /Labels: +topology\.kubernetes\.io\/region=cloud-a/);
    assert.match(described, /InternalIP: +10\.0\.0\.1/);
    assert.match(described, /Warning +PeerLeftOut .*told/);
    assert.match(await ok("get events"), /PeerLeftOut +node\/cloud-a-1 +told/);
  });

  it("label and annotate a node, and take both away again", async () => {
    const node = () => server.get({ apiVersion: "v1", kind: "Node", name: "cloud-a-1" })?.metadata;
    assert.match(await ok("label node cloud-a-1 tier=edge"), /labeled/);
    assert.match(await ok("annotate node cloud-a-1 kilo.squat.ai/location=home"), /annotated/);
    assert.equal(node()?.labels?.tier, "edge");
    assert.equal(node()?.annotations?.["kilo.squat.ai/location"], "home");
    await ok("label node cloud-a-1 tier-");
    await ok("annotate node cloud-a-1 kilo.squat.ai/location-");
    assert.equal(node()?.labels?.tier, undefined);
    assert.deepEqual(node()?.annotations ?? {}, {});
  });

  it("cordon and taint, which are strategic merge patches", async () => {
    const spec = () => server.get({ apiVersion: "v1", kind: "Node", name: "cloud-a-1" })?.spec;
    assert.match(await ok("cordon cloud-a-1"), /cordoned/);
    assert.match(await ok("get nodes"), /Ready,SchedulingDisabled/);
    await ok("taint nodes cloud-a-1 key=value:NoSchedule");
    const taints = [{ key: "key", value: "value", effect: "NoSchedule" }];
    assert.deepEqual(spec(), { podCIDR: "10.42.0.0/24", unschedulable: true, taints });
    await ok("uncordon cloud-a-1");
    await ok("taint nodes cloud-a-1 key-");
    assert.deepEqual(spec(), { podCIDR: "10.42.0.0/24" });
  });

  it("apply a Peer: created, unchanged, configured", async () => {
    assert.equal(await ok("apply -f -", valid("10.5.0.1/32")), "peer.kilo.squat.ai/laptop created\n");
    assert.equal(await ok("apply -f -", valid("10.5.0.1/32")), "peer.kilo.squat.ai/laptop unchanged\n");
    assert.equal(await ok("apply -f -", valid("10.5.0.2/32")), "peer.kilo.squat.ai/laptop configured\n");
    const spec = { allowedIPs: ["10.5.0.2/32"], publicKey: KEY, persistentKeepalive: 10 };
    assert.deepEqual(laptop()?.spec, spec);
    assert.match(await ok("get peers"), /^NAME +AGE\nlaptop +\d+s\n$/);
    assert.match(await ok("describe peer laptop"), /Public Key: +GY5aT1N9/);
    assert.equal(await ok("diff -f -", valid("10.5.0.2/32")), "");
  });

  it("apply --server-side changes and removes fields without a conflict", async () => {
    const said = await ok("apply --server-side -f -", valid("10.5.0.3/32"));
    assert.equal(said, "peer.kilo.squat.ai/laptop serverside-applied\n");
    await ok("apply --server-side -f -", peerYaml("10.5.0.4/32", `, publicKey: "${KEY}"`));
    assert.deepEqual(laptop()?.spec, { allowedIPs: ["10.5.0.4/32"], publicKey: KEY });
  });

  it("an invalid Peer is refused with the field named", async () => {
    const required = await run("apply -f -", peerYaml("10.5.0.5/32").replace("laptop", "other"));
    assert.equal(required.code, 1);
    assert.match(required.err, /The Peer "other" is invalid: spec\.publicKey: Required value/);
    const port = await run(
      "apply -f -",
      peerYaml("10.5.0.5/32", `, publicKey: k, endpoint: {dnsOrIP: {ip: x}, port: "1"}`),
    );
    assert.match(port.err, /spec\.endpoint\.port in body must be of type integer/);
    const typo = await run("apply -f -", peerYaml("10.5.0.5/32", ", publicKey: k, persistentkeepalive: 5"));
    assert.match(typo.err, /unknown field "spec\.persistentkeepalive"/);
    assert.deepEqual(laptop()?.spec, { allowedIPs: ["10.5.0.4/32"], publicKey: KEY });
  });

  it("patch, edit by replace, and wait work as well", async () => {
    const merge = '{"spec":{"persistentKeepalive":25}}';
    assert.match(await ok(`patch peer laptop --type=merge -p ${merge}`), /patched/);
    const replaced = JSON.parse(await ok("get peer laptop -o json"));
    replaced.spec.allowedIPs = ["10.5.0.9/32"];
    assert.match(await ok("replace -f -", JSON.stringify(replaced)), /replaced/);
    const stale = await run(
      "replace -f -",
      JSON.stringify({ ...replaced, spec: { ...replaced.spec, allowedIPs: [] } }),
    );
    assert.match(stale.err, /the object has been modified/);
    assert.match(await ok("wait --for=condition=established crd/peers.kilo.squat.ai"), /condition met/);
    assert.match(await ok("wait --for=jsonpath={.spec.persistentKeepalive}=25 peer/laptop"), /condition met/);
  });

  it("explain knows the Peer", async () => {
    assert.match(await ok("explain peer.spec"), /allowedIPs\s+<\[\]string> -required-/);
    assert.match(await ok("explain peer.spec.endpoint.dnsOrIP"), /dns\s+<string>/);
  });

  it("get --watch sees what happens", async () => {
    const child = start(["get", "peers", "--watch", "--output-watch-events", "--no-headers"]);
    let out = "";
    let wake = (): void => undefined;
    child.on("close", () => wake());
    child.stdout?.on("data", (text) => {
      out += text;
      wake();
    });
    const lines = (): string[] => out.split("\n").slice(0, -1);
    const until = async (count: number): Promise<void> => {
      while (lines().length < count && child.exitCode === null) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    await until(1);
    const place = { apiVersion: "kilo.squat.ai/v1alpha1", kind: "Peer" };
    const peer = { ...place, metadata: { name: "seen" }, spec: { allowedIPs: [], publicKey: KEY } };
    server.put(peer);
    server.put({ ...peer, spec: { allowedIPs: ["10.9.0.0/24"], publicKey: KEY } });
    server.delete({ ...place, name: "seen" });
    await until(4);
    child.kill();
    const shown = lines().map((line) => line.split(/\s+/).slice(0, 2).join(" "));
    assert.deepEqual(shown, ["ADDED laptop", "ADDED seen", "MODIFIED seen", "DELETED seen"]);
  });

  it("delete waits until the Peer is gone", async () => {
    assert.equal(await ok("delete peer laptop"), 'peer.kilo.squat.ai "laptop" deleted\n');
    assert.equal(laptop(), undefined);
    const missing = await run("get peer laptop");
    assert.match(missing.err, /Error from server \(NotFound\): peers\.kilo\.squat\.ai "laptop" not found/);
  });

  it("other kinds: create, list in all namespaces, delete", async () => {
    const metadata = { name: "s", namespace: "team" };
    const items = [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } },
      { apiVersion: "v1", kind: "Secret", metadata, stringData: { key: "value" } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, name: "c" }, data: { key: "value" } },
    ];
    await ok("create -f -", JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    assert.match(
      await ok("get secrets,configmaps -A"),
      /team +secret\/s +Opaque +1 [\s\S]*team +configmap\/c +1 /,
    );
    await ok("delete namespace team");
    assert.match(await ok("get namespaces"), /^default +Active/m);
    assert.match(await ok("get leases,pods -A -o name"), /^$/);
  });

  it("what is not served is refused in a way that helps", async () => {
    const kind = await run("get deployments");
    assert.match(kind.err, /the server doesn't have a resource type "deployments"/);
    const protobuf = await run("create namespace other");
    assert.match(protobuf.err, /takes JSON and YAML: kubectl apply -f FILE/);
    const raw = await run("get --raw /apis/apps/v1/deployments");
    assert.match(raw.err, /cannot serve deployments of apps\/v1: .*use a real cluster, e\.g\. kind or k3s/);
  });

  it("its requests are counted under its user", () => {
    const admin = server.stats().clients.admin;
    assert.ok((admin?.requests["patch peers"] ?? 0) >= 3);
    assert.ok((admin?.writes ?? 0) > 5);
    assert.equal(admin?.watches, 0);
  });
});
