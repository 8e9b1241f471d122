import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  applyDeviceChange,
  type DeviceChange,
  type DeviceStatus,
  EMPTY_DEVICE,
} from "../../wireguard/index.ts";
import type { DeviceBackend } from "./backend.ts";
import { createDriverOver } from "./driver.ts";
import { endpoint, prefixes, publicKey, secretKey } from "./fixtures.test-kit.ts";

const signal = new AbortController().signal;
const LEARNED = 1_796_129_148;

/** A device in memory. `blind`: it shows no peers, as some userspace WireGuards did. */
class FakeBackend implements DeviceBackend {
  readonly kind = "userspace";
  readonly changes: DeviceChange[] = [];
  device: DeviceStatus | undefined = EMPTY_DEVICE;
  blind = false;
  /** How many turns of the event loop an answer takes. */
  slowness = 0;

  async ensure(): Promise<void> {
    this.device ??= EMPTY_DEVICE;
  }

  async read(): Promise<DeviceStatus | undefined> {
    const seen = this.blind && this.device !== undefined ? { ...this.device, peers: [] } : this.device;
    for (let turn = 0; turn < this.slowness; turn++) await setImmediate();
    return seen;
  }

  async set(change: DeviceChange): Promise<void> {
    this.changes.push(change);
    this.device = applyDeviceChange(this.device ?? EMPTY_DEVICE, change);
  }

  async remove(): Promise<boolean> {
    const existed = this.device !== undefined;
    this.device = undefined;
    return existed;
  }

  close(): void {
    this.device = undefined;
  }

  /** A handshake with one peer happened. */
  handshake(key: string): void {
    const device = this.device ?? EMPTY_DEVICE;
    const peers = device.peers.map((peer) =>
      peer.publicKey === key ? { ...peer, latestHandshake: LEARNED } : peer,
    );
    this.device = { ...device, peers };
  }
}

const WHOLE: DeviceChange = {
  privateKey: secretKey(1),
  peers: [
    {
      kind: "add",
      publicKey: publicKey(2),
      endpoint: endpoint("192.0.2.2:51820"),
      allowedIPs: prefixes("10.4.0.2/32"),
      persistentKeepalive: 0,
    },
    {
      kind: "add",
      publicKey: publicKey(3),
      endpoint: endpoint("192.0.2.3:51820"),
      allowedIPs: prefixes("10.4.0.3/32"),
      persistentKeepalive: 10,
    },
    { kind: "add", publicKey: publicKey(4), allowedIPs: prefixes("10.4.0.4/32"), persistentKeepalive: 0 },
  ],
};

test("a change without content is not sent", async () => {
  const backend = new FakeBackend();
  await createDriverOver({ name: "kilo0" }, backend).apply({ peers: [] }, signal);
  assert.deepEqual(backend.changes, []);
});

test("the device shows no peers although it took them: told once, and what was applied counts (K-23)", async () => {
  const backend = new FakeBackend();
  backend.blind = true;
  const warnings: string[] = [];
  const driver = createDriverOver({ name: "kilo0", onWarning: (text) => warnings.push(text) }, backend);
  await driver.apply(WHOLE, signal);
  const more: DeviceChange = {
    peers: [{ kind: "add", publicKey: publicKey(5), allowedIPs: prefixes("10.4.0.5/32") }],
  };
  await driver.apply(more, signal);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /cannot read back kilo0: the device took 3 peers and shows none/);
  const seen = await driver.read();
  assert.deepEqual(seen?.peers, applyDeviceChange(applyDeviceChange(EMPTY_DEVICE, WHOLE), more).peers);
  assert.equal(await driver.renew([publicKey(2)], signal), 0, "sessions that cannot be seen are not ended");
  assert.equal(backend.changes.length, 2);
});

test("a blind device that is made anew is empty again, not what the old one had", async () => {
  const backend = new FakeBackend();
  backend.blind = true;
  const driver = createDriverOver({ name: "kilo0" }, backend);
  await driver.apply(WHOLE, signal);
  backend.device = undefined;
  assert.equal(await driver.read(), undefined);
  await driver.ensure(signal);
  assert.deepEqual((await driver.read())?.peers, []);
});

test("a device that can be read is read, also what it learned", async () => {
  const backend = new FakeBackend();
  const driver = createDriverOver({ name: "kilo0" }, backend);
  await driver.apply(WHOLE, signal);
  backend.handshake(publicKey(2));
  assert.equal((await driver.read())?.peers[0]?.latestHandshake, LEARNED);
});

test("a renewal touches only peers without a handshake, and they are afterwards what they were", async () => {
  const backend = new FakeBackend();
  const driver = createDriverOver({ name: "kilo0" }, backend);
  await driver.apply(WHOLE, signal);
  backend.handshake(publicKey(2));
  const before = backend.device?.peers;
  backend.changes.length = 0;
  assert.equal(await driver.renew([publicKey(2), publicKey(3)], signal), 1);
  assert.deepEqual(
    backend.changes.flatMap((change) => change.peers.map((peer) => peer.publicKey)),
    new Array(4).fill(publicKey(3)),
  );
  const byKey = (peers: DeviceStatus["peers"] = []) => new Map(peers.map((peer) => [peer.publicKey, peer]));
  assert.deepEqual(byKey(backend.device?.peers), byKey(before));
});

test("a host that moved sends to every peer with an endpoint; nothing of them changes, and no session ends", async () => {
  const backend = new FakeBackend();
  const driver = createDriverOver({ name: "kilo0" }, backend);
  await driver.apply(WHOLE, signal);
  backend.handshake(publicKey(2));
  const before = backend.device?.peers;
  backend.changes.length = 0;
  assert.equal(await driver.announce([publicKey(2)], signal), 1);
  const keepalives = backend.changes.flatMap(({ peers }) =>
    peers.map((peer) => (peer.kind === "update" ? peer.persistentKeepalive : peer.kind)),
  );
  assert.equal(keepalives[0], 0);
  assert.ok(Number(keepalives[1]) > 0, "an edge from off to on makes WireGuard send");
  assert.deepEqual(backend.device?.peers, before);
});

test("a renewal of a device that does not exist calls nobody", async () => {
  const backend = new FakeBackend();
  backend.device = undefined;
  assert.equal(await createDriverOver({ name: "kilo0" }, backend).renew([publicKey(2)], signal), 0);
});

test("removal says what was removed, and nothing the second time", async () => {
  const driver = createDriverOver({ name: "kilo0" }, new FakeBackend());
  assert.deepEqual(await driver.remove(), ["WireGuard link kilo0 (userspace)"]);
  assert.deepEqual(await driver.remove(), []);
});

test("a peer that a pass removes while it is called stays removed", async () => {
  const backend = new FakeBackend();
  const driver = createDriverOver({ name: "kilo0" }, backend);
  await driver.apply(WHOLE, signal);
  backend.slowness = 3;
  const removal: DeviceChange = { peers: [{ kind: "remove", publicKey: publicKey(2) }] };
  await Promise.all([driver.renew([publicKey(2)], signal), driver.apply(removal, signal)]);
  assert.equal(
    backend.device?.peers.some((peer) => peer.publicKey === publicKey(2)),
    false,
  );
});

test("a prefix that moves away from a peer while it is called is not stolen back", async () => {
  const backend = new FakeBackend();
  const driver = createDriverOver({ name: "kilo0" }, backend);
  await driver.apply(WHOLE, signal);
  backend.slowness = 3;
  const move: DeviceChange = {
    peers: [
      { kind: "update", publicKey: publicKey(3), allowedIPs: prefixes("10.4.0.2/32", "10.4.0.3/32") },
      { kind: "update", publicKey: publicKey(2), allowedIPs: [] },
    ],
  };
  await Promise.all([driver.renew([publicKey(2), publicKey(3)], signal), driver.apply(move, signal)]);
  const owner = backend.device?.peers.find((peer) =>
    peer.allowedIPs.some((prefix) => prefix.text === "10.4.0.2/32"),
  );
  assert.equal(owner?.publicKey, publicKey(3));
});

test("an operation that fails does not keep later ones, and one that is aborted while it waits is not begun", async () => {
  const backend = new FakeBackend();
  backend.slowness = 3;
  const driver = createDriverOver({ name: "kilo0" }, backend);
  const stop = new AbortController();
  const first = driver.read();
  const aborted = driver.apply(WHOLE, stop.signal);
  stop.abort(new Error("stopped"));
  await assert.rejects(aborted, /stopped/);
  await first;
  assert.deepEqual(backend.changes, []);
  await driver.apply(WHOLE, signal);
  assert.equal(backend.changes.length, 1);
});

test("--create-interface=false: a link that is missing is not made, and the error says what to do", async () => {
  const backend = new FakeBackend();
  backend.device = undefined;
  const driver = createDriverOver({ name: "kilo0", create: false }, backend);
  await assert.rejects(driver.ensure(signal), {
    code: "DEVICE_MISSING",
    message: /start it with "wireguard-go kilo0", or leave --create-interface away/,
  });
  assert.equal(backend.device, undefined);
  backend.device = EMPTY_DEVICE;
  await driver.ensure(signal);
});

test("--create-interface=false: clean-up takes key and peers away and leaves the link", async () => {
  const backend = new FakeBackend();
  const driver = createDriverOver({ name: "kilo0", create: false }, backend);
  await driver.apply(WHOLE, signal);
  assert.deepEqual(await driver.remove(), [
    "key and peers of WireGuard link kilo0 (the link stays: kg did not make it)",
  ]);
  assert.deepEqual([backend.device?.privateKey, backend.device?.peers], [undefined, []]);
  assert.deepEqual(await driver.remove(), []);
});
