import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isEmptyDeviceChange, type PeerChange } from "./changes.ts";
import {
  type DeviceConfig,
  type DeviceStatus,
  EMPTY_DEVICE,
  type PeerConfig,
  type PeerStatus,
} from "./device.ts";
import { diffDevice } from "./diff.ts";
import { sameEndpoint } from "./endpoint.ts";
import { config, endpoint, key, NOW, peer, prefixes, secret, status } from "./fixtures.test-kit.ts";
import { type PublicKey, someKey } from "./key.ts";
import { applyDeviceChange } from "./model.ts";

describe("the model behaves as WireGuard does", () => {
  it("a prefix leaves the peer it was on", () => {
    const device = status([peer(1, ["10.0.0.0/24", "10.0.1.0/24"]), peer(2, [])]);
    const after = applyDeviceChange(device, {
      peers: [{ kind: "update", publicKey: key(2), allowedIPs: prefixes("10.0.1.0/24") }],
    });
    assert.deepEqual(lists(after), [["10.0.0.0/24"], ["10.0.1.0/24"]]);
    assert.deepEqual(lists(device), [["10.0.0.0/24", "10.0.1.0/24"], []]);
  });

  it("an update makes no peer, an add does, a remove of nothing is nothing", () => {
    const publicKey = key(1);
    assert.deepEqual(
      applyDeviceChange(EMPTY_DEVICE, {
        peers: [
          { kind: "update", publicKey, persistentKeepalive: 5 },
          { kind: "remove", publicKey },
        ],
      }).peers,
      [],
    );
    const made = applyDeviceChange(EMPTY_DEVICE, { peers: [{ kind: "add", publicKey }] }).peers[0];
    assert.equal(made?.latestHandshake, 0);
    assert.deepEqual(made?.allowedIPs, []);
  });

  it("what is not named stays: session, counters, endpoint", () => {
    const device = status([peer(1, ["10.0.0.0/24"], { endpoint: endpoint("192.0.2.1:1") }), peer(2, [])]);
    const after = applyDeviceChange(device, {
      listenPort: 4,
      peers: [{ kind: "update", publicKey: key(1), persistentKeepalive: 9 }],
    });
    assert.equal(after.listenPort, 4);
    assert.deepEqual(after.peers[0], { ...device.peers[0], persistentKeepalive: 9, presharedKey: undefined });
    assert.deepEqual(after.peers[1], device.peers[1]);
  });

  it("a removed peer gives up its prefixes, and comes back without session", () => {
    const device = status([peer(1, ["10.0.0.0/24"])]);
    const after = applyDeviceChange(device, {
      peers: [
        { kind: "remove", publicKey: key(1) },
        { kind: "add", publicKey: key(1) },
      ],
    });
    assert.deepEqual(lists(after), [[]]);
    assert.equal(after.peers[0]?.latestHandshake, 0);
  });

  it("private keys are clamped, a key of zeros is none", () => {
    const after = applyDeviceChange(EMPTY_DEVICE, { privateKey: secret(7), peers: [] });
    assert.equal(after.privateKey?.equals(secret(7).clamped()), true);
    assert.equal(applyDeviceChange(after, { privateKey: secret(0), peers: [] }).privateKey, undefined);
  });
});

describe("any device, any wish: the change", () => {
  it("ends in what is wanted, and a second change is empty", () => {
    forAny(({ wanted, actual, previous }) => {
      const after = applyDeviceChange(actual, diffDevice(wanted, actual, { now: NOW, previous }));
      assertIs(after, wanted, actual);
      for (const context of [{ now: NOW, previous }, { now: NOW, previous: wanted }, { now: NOW }]) {
        assert.ok(isEmptyDeviceChange(diffDevice(wanted, after, context)));
      }
    });
  });

  it("names a peer at most once, and none that is what it shall be", () => {
    forAny(({ wanted, actual, previous }) => {
      const named = diffDevice(wanted, actual, { now: NOW, previous }).peers.map((p) => p.publicKey);
      assert.equal(new Set(named).size, named.length);
      for (const each of wanted.peers) {
        const now = actual.peers.find((p) => p.publicKey === each.publicKey);
        if (now !== undefined && isAlready(now, each)) assert.ok(!named.includes(each.publicKey));
      }
    });
  });

  it("never leaves a prefix that was held and is wanted without a peer, and gives it to none but its old and new one", () => {
    forAny(({ wanted, actual, previous }) => {
      const before = ownersOf(actual.peers);
      const goal = ownersOf(wanted.peers);
      let device = actual;
      for (const step of diffDevice(wanted, actual, { now: NOW, previous }).peers) {
        device = applyDeviceChange(device, { peers: [step] });
        const owners = ownersOf(device.peers);
        for (const [text, owner] of before) {
          if (!goal.has(text)) continue;
          const holder = owners.get(text);
          assert.ok(holder === owner || holder === goal.get(text), `${text} on ${holder}`);
        }
      }
    });
  });

  it("keeps the session of every peer that stays", () => {
    forAny(({ wanted, actual, previous }) => {
      const after = applyDeviceChange(actual, diffDevice(wanted, actual, { now: NOW, previous }));
      for (const was of actual.peers) {
        const is = after.peers.find((p) => p.publicKey === was.publicKey);
        if (is === undefined) continue;
        assert.deepEqual(
          [is.latestHandshake, is.receivedBytes, is.sentBytes],
          [was.latestHandshake, was.receivedBytes, was.sentBytes],
        );
      }
    });
  });

  it("touches one peer when one peer's wish changes and no prefix moves", () => {
    forAny(({ actual }) => {
      const settled: DeviceConfig = { listenPort: actual.listenPort, peers: actual.peers };
      for (const [i, changed] of settled.peers.entries()) {
        const peers = settled.peers.with(i, { ...changed, persistentKeepalive: 77 });
        const change: readonly PeerChange[] = diffDevice({ ...settled, peers }, actual, { now: NOW }).peers;
        assert.deepEqual(change, [{ kind: "update", publicKey: changed.publicKey, persistentKeepalive: 77 }]);
      }
    });
  });
});

interface Case {
  readonly wanted: DeviceConfig;
  readonly actual: DeviceStatus;
  readonly previous: DeviceConfig | undefined;
}

/** Few keys, prefixes and endpoints, so that peers meet, swap and steal all the time. */
function forAny(check: (given: Case) => void): void {
  const seen = fc.record({
    latestHandshake: fc.constantFrom(0, NOW - 5, NOW - 179, NOW - 180, NOW - 9999, NOW + 60, NOW + 9999),
    receivedBytes: fc.nat({ max: 9 }),
    sentBytes: fc.nat({ max: 9 }),
  });
  const anyCase = fc.record<Case>({
    wanted: anyConfig(),
    actual: fc.tuple(anyConfig(), fc.array(seen, { minLength: 6, maxLength: 6 })).map(([given, list]) => {
      const read = { ...given, privateKey: someKey(given.privateKey)?.clamped() };
      return { ...read, peers: status(given.peers, list).peers };
    }),
    previous: fc.option(anyConfig(), { nil: undefined }),
  });
  fc.assert(fc.property(anyCase, check), { numRuns: 500 });
}

function anyConfig(): fc.Arbitrary<DeviceConfig> {
  const settings = fc.record({
    present: fc.boolean(),
    presharedKey: fc.constantFrom(undefined, secret(0), secret(1), secret(2)),
    endpoint: fc.constantFrom(
      undefined,
      endpoint("192.0.2.1:1"),
      endpoint("192.0.2.2:2"),
      endpoint("[fd00::1]:1"),
    ),
    persistentKeepalive: fc.constantFrom(0, 10, 25),
  });
  /** For each of eight prefixes the peer that has it; 0 and peers that are absent: nobody. */
  const assignment = fc.array(fc.nat({ max: 6 }), { minLength: 8, maxLength: 8 });
  return fc
    .record({
      privateKey: fc.constantFrom(undefined, secret(0), secret(1), secret(2)),
      listenPort: fc.constantFrom(0, 1, 51820),
      peers: fc.array(settings, { minLength: 6, maxLength: 6 }),
      assignment,
    })
    .map(({ privateKey, listenPort, peers, assignment: owners }) => ({
      privateKey,
      listenPort,
      peers: peers.flatMap(({ present, ...rest }, i) => {
        const list = owners.flatMap((owner, n) => (owner === i + 1 ? [`10.0.${n}.0/24`] : []));
        return present ? [peer(i + 1, list, rest)] : [];
      }),
    }));
}

function assertIs(after: DeviceStatus, wanted: DeviceConfig, before: DeviceStatus): void {
  assert.deepEqual(after.peers.map((p) => p.publicKey).sort(), wanted.peers.map((p) => p.publicKey).sort());
  assert.equal(after.listenPort, wanted.listenPort === 0 ? before.listenPort : wanted.listenPort);
  const privateKey = (someKey(wanted.privateKey) ?? before.privateKey)?.clamped();
  assert.equal(after.privateKey?.revealText(), privateKey?.revealText());
  for (const each of wanted.peers) {
    const is = after.peers.find((p) => p.publicKey === each.publicKey);
    const was = before.peers.find((p) => p.publicKey === each.publicKey);
    assert.ok(is !== undefined);
    assert.ok(isAlready({ ...is, endpoint: each.endpoint }, each));
    const kept = was?.endpoint !== undefined && sameEndpoint(is.endpoint, was.endpoint);
    assert.ok(kept || sameEndpoint(is.endpoint, each.endpoint));
  }
}

function isAlready(is: PeerConfig, wanted: PeerConfig): boolean {
  return (
    texts(is).join() === texts(wanted).join() &&
    is.persistentKeepalive === wanted.persistentKeepalive &&
    someKey(is.presharedKey)?.revealText() === someKey(wanted.presharedKey)?.revealText() &&
    sameEndpoint(is.endpoint, wanted.endpoint)
  );
}

function ownersOf(peers: readonly PeerConfig[]): Map<string, PublicKey> {
  return new Map(peers.flatMap((p) => texts(p).map((text) => [text, p.publicKey] as const)));
}

function lists(device: DeviceStatus): string[][] {
  return device.peers.map(texts);
}

function texts(of: PeerConfig | PeerStatus): string[] {
  return of.allowedIPs.map((prefix) => prefix.text);
}

it("a config without peers empties a device", () => {
  const device = status([peer(1, ["10.0.0.0/24"]), peer(2, ["10.0.1.0/24"])]);
  const change = diffDevice(config(), device, { now: NOW });
  assert.deepEqual(applyDeviceChange(device, change).peers, []);
});
