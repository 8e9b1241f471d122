import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { type Prefix, parsePrefix } from "../ip/index.ts";
import { createCniFile } from "./cni-file.ts";

const folder = mkdtempSync(join(tmpdir(), "kilomesh-cni-"));
const net = join(folder, "net.d");
const path = join(net, "10-kilo.conflist");
beforeEach(() => rmSync(net, { recursive: true, force: true }));
after(() => rmSync(folder, { recursive: true }));

function ranges(...texts: string[]): Prefix[] {
  return texts.map((text) => parsePrefix(text)).filter((prefix) => prefix !== undefined);
}

const state = { ranges: ranges("10.2.1.0/24"), mtu: 1340 };

/** Writes a file and returns what kg makes of it. */
async function afterWrite(before: unknown, wanted = state): Promise<Record<string, unknown>> {
  const file = createCniFile({ path });
  await createCniFile({ path }).write(state);
  writeFileSync(path, typeof before === "string" ? before : JSON.stringify(before));
  assert.equal(await file.write(wanted), true);
  assert.deepEqual(await file.read(), wanted);
  assert.equal(await file.write(wanted), false, "written once");
  return JSON.parse(readFileSync(path, "utf8"));
}

test("no file: undefined, and nothing is made by asking (K-66)", async () => {
  assert.equal(await createCniFile({ path }).read(), undefined);
  assert.throws(() => statSync(net));
});

test("no file: the whole configuration is written, mode 0644, and nothing else stays in the folder", async () => {
  const file = createCniFile({ path });
  assert.equal(await file.write(state), true);
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), {
    cniVersion: "0.4.0",
    name: "kilo",
    plugins: [
      {
        name: "kubernetes",
        type: "bridge",
        bridge: "kube-bridge",
        isDefaultGateway: true,
        forceAddress: true,
        mtu: 1340,
        ipam: { type: "host-local", ranges: [[{ subnet: "10.2.1.0/24" }]] },
      },
      { type: "portmap", snat: true, capabilities: { portMappings: true } },
    ],
  });
  assert.equal(statSync(path).mode & 0o777, 0o644);
  assert.deepEqual(readdirSync(net), ["10-kilo.conflist"]);
});

test("the same state again: the file is not touched", async () => {
  const file = createCniFile({ path });
  await file.write(state);
  const before = statSync(path);
  assert.equal(await file.write(state), false);
  assert.deepEqual([statSync(path).ino, statSync(path).mtimeMs], [before.ino, before.mtimeMs]);
});

test("Kilo's own file: only ranges and MTU change; foreign keys, plugins and their order stay", async () => {
  const kilo = {
    name: "kilo",
    cniVersion: "0.3.1",
    x: { y: [1] },
    plugins: [
      { type: "sysctl-like", mtu: 9000 },
      {
        type: "bridge",
        hairpinMode: true,
        mtu: 1420,
        ipam: { routes: [{ dst: "0.0.0.0/0" }], type: "host-local", dataDir: "/run/x" },
      },
      { type: "bandwidth", ipam: { type: "dhcp" } },
    ],
  };
  const written = await afterWrite(kilo);
  const [first, own, last] = kilo.plugins;
  const expected = {
    ...kilo,
    plugins: [
      first,
      { ...own, mtu: 1340, ipam: { ...own?.ipam, ranges: [[{ subnet: "10.2.1.0/24" }]] } },
      last,
    ],
  };
  assert.equal(JSON.stringify(written), JSON.stringify(expected), "also the order of keys");
});

test("another order or indentation of the same state is not rewritten", async () => {
  const file = createCniFile({ path });
  await file.write(state);
  const compact = JSON.stringify(JSON.parse(readFileSync(path, "utf8")));
  writeFileSync(path, compact);
  assert.equal(await file.write(state), false);
  assert.equal(readFileSync(path, "utf8"), compact);
});

test('a "subnet" that is none: replaced once, foreign keys kept (K-68)', async () => {
  const written = await afterWrite({
    cniVersion: "0.3.1",
    name: "mine",
    plugins: [
      { type: "bridge", bridge: "cni0", ipam: { type: "host-local", ranges: [[{ subnet: "usePodCidr" }]] } },
    ],
  });
  assert.deepEqual(written, {
    cniVersion: "0.3.1",
    name: "mine",
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        ipam: { type: "host-local", ranges: [[{ subnet: "10.2.1.0/24" }]] },
        mtu: 1340,
      },
    ],
  });
});

test("an old subnet beside the ranges goes: pods would get addresses of another node", async () => {
  const written = await afterWrite({
    plugins: [{ type: "bridge", mtu: 1340, ipam: { type: "host-local", subnet: "10.9.0.0/24" } }],
  });
  assert.deepEqual(written, {
    plugins: [
      { type: "bridge", mtu: 1340, ipam: { type: "host-local", ranges: [[{ subnet: "10.2.1.0/24" }]] } },
    ],
  });
});

const UNREADABLE = ["", "{", "[]", "null"];

for (const broken of UNREADABLE) {
  test(`kg's own file that cannot be read is replaced whole: ${JSON.stringify(broken)}`, async () => {
    const written = await afterWrite(broken);
    assert.equal(written.name, "kilo");
  });
}

const CALICO = {
  name: "k8s-pod-network",
  cniVersion: "0.3.1",
  plugins: [{ type: "calico", ipam: { type: "calico-ipam" } }, { type: "portmap" }],
};
const FOREIGN = [
  JSON.stringify(CALICO),
  JSON.stringify({ name: "cilium", plugins: [{ type: "cilium-cni" }] }),
  JSON.stringify({ name: "single", type: "bridge", ipam: { type: "host-local" } }),
  '{"plugins":{}}',
];

for (const foreign of FOREIGN) {
  test(`another network's file at --cni-path is not destroyed: ${foreign.slice(0, 30)}`, async () => {
    await refused("10-kilo.conflist", foreign, "CNI_FOREIGN");
    await refused("10-calico.conflist", foreign, "CNI_FOREIGN");
  });
}

for (const broken of UNREADABLE) {
  test(`a file of another name that cannot be read is not destroyed: ${JSON.stringify(broken)}`, async () => {
    await refused("05-cilium.conflist", broken, "CNI_FOREIGN");
  });
}

/** Writing fails with what to do, and the file is what it was. */
async function refused(name: string, content: string, code: string): Promise<void> {
  const at = join(net, name);
  mkdirSync(net, { recursive: true });
  writeFileSync(at, content);
  const file = createCniFile({ path: at });
  assert.equal(await file.read(), undefined);
  const message = /^cannot write CNI file .*give another --cni-path, or --cni=false/;
  await assert.rejects(file.write(state), { code, message });
  assert.equal(readFileSync(at, "utf8"), content);
  assert.deepEqual(await file.remove(), []);
  assert.equal(readFileSync(at, "utf8"), content);
}

test("dual stack: one range set a family", async () => {
  const file = createCniFile({ path });
  const both = { ranges: ranges("10.2.1.0/24", "fd00:1::/64"), mtu: 1420 };
  await file.write(both);
  assert.deepEqual(await file.read(), both);
  const { plugins } = JSON.parse(readFileSync(path, "utf8"));
  assert.deepEqual(plugins[0].ipam.ranges, [[{ subnet: "10.2.1.0/24" }], [{ subnet: "fd00:1::/64" }]]);
});

test("a folder that cannot be made is an error that names the file", async () => {
  writeFileSync(join(folder, "plain"), "");
  const file = createCniFile({ path: join(folder, "plain", "x.conflist") });
  await assert.rejects(file.write(state), {
    code: "CNI_IO",
    message: /cannot (read|write) CNI file .*x\.conflist/,
  });
});

test("a file that cannot be read is undefined, and writing says why", async () => {
  const file = createCniFile({ path: folder });
  assert.equal(await file.read(), undefined);
  await assert.rejects(file.write(state), { code: "CNI_IO", message: /cannot read CNI file/ });
});
