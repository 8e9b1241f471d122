import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isEmptyDeviceChange, type PeerChange } from "./changes.ts";
import type { DeviceConfig, DeviceStatus, PeerConfig } from "./device.ts";
import { diffDevice } from "./diff.ts";
import { config, endpoint, key, NOW, peer, prefixes, secret, status } from "./fixtures.test-kit.ts";
import { SecretKey } from "./key.ts";

const DECLARED = endpoint("203.0.113.1:51820");
const LEARNED = endpoint("203.0.113.9:40001");

describe("a public leader rewrites the peer of a NATed node every 30 s (K-01)", () => {
  const wanted = config(peer(3, ["10.244.2.0/24"], { endpoint: DECLARED, persistentKeepalive: 10 }));
  const learned = (latestHandshake: number): DeviceStatus =>
    status(wanted.peers, [{ endpoint: LEARNED, latestHandshake }]);

  it("a learned endpoint of a living session is kept", () => {
    for (const age of [0, 5, 120, 179]) {
      assertNothing(wanted, learned(NOW - age), undefined);
      assertNothing(wanted, learned(NOW - age), wanted);
    }
  });

  it("also when the clock is a little behind the handshake's", () =>
    assertNothing(wanted, learned(NOW + 30)));

  it("the declared endpoint is tried again when no session lives", () => {
    for (const handshake of [0, NOW - 180, NOW - 86400, NOW + 86400]) {
      assert.deepEqual(peersOf(wanted, learned(handshake)), [
        { kind: "update", publicKey: key(3), endpoint: DECLARED },
      ]);
    }
  });

  it("an endpoint that was declared anew is written at once, session or not", () => {
    const before = config(peer(3, ["10.244.2.0/24"], { endpoint: endpoint("203.0.113.77:51820") }));
    const undeclared = config(peer(3, ["10.244.2.0/24"]));
    for (const previous of [before, undeclared]) {
      assert.deepEqual(peersOf(wanted, learned(NOW - 5), previous), [
        { kind: "update", publicKey: key(3), endpoint: DECLARED },
      ]);
    }
  });

  it("a peer that is new in the configuration, but lives on the device, keeps its endpoint", () =>
    assertNothing(wanted, learned(NOW - 5), config()));

  it("an endpoint that is no longer declared is not touched", () =>
    assertNothing(
      config(peer(3, ["10.244.2.0/24"], { persistentKeepalive: 10 })),
      learned(NOW - 1000),
      wanted,
    ));

  it("a device without endpoint gets it, session or not", () => {
    const blind = status(wanted.peers, [{ endpoint: undefined, latestHandshake: NOW - 5 }]);
    assert.deepEqual(peersOf(wanted, blind, wanted), [
      { kind: "update", publicKey: key(3), endpoint: DECLARED },
    ]);
  });
});

it("a DNS name gets another address: the device has it within one reconcile, and nothing is rewritten after (K-13)", () => {
  const at = (address: string): DeviceConfig =>
    config(peer(1, ["10.5.0.1/32"], { endpoint: endpoint(address) }));
  const before = at("198.18.1.1:51820");
  const after = at("198.18.1.2:51820");
  assert.deepEqual(peersOf(after, status(before.peers), before), [
    { kind: "update", publicKey: key(1), endpoint: endpoint("198.18.1.2:51820") },
  ]);
  assertNothing(after, status(after.peers), after);
});

it("a fourth node destroys the sessions of the others (K-04)", () => {
  const three = [peer(1, ["10.244.1.0/24"]), peer(2, ["10.244.2.0/24"]), peer(3, ["10.244.3.0/24"])];
  const fourth = peer(4, ["10.244.4.0/24"], { endpoint: DECLARED });
  assert.deepEqual(peersOf(config(...three, fourth), status(three)), [
    {
      kind: "add",
      publicKey: key(4),
      allowedIPs: fourth.allowedIPs,
      persistentKeepalive: 0,
      endpoint: DECLARED,
    },
  ]);
});

describe("a single node is rewritten every 30 s (K-16)", () => {
  const text = secret(7).revealText();
  const device: DeviceStatus = { ...status([]), privateKey: secret(7).clamped() };

  it("the key file with and without trailing newline is the same key", () => {
    for (const file of [text, `${text}\n`, `${text}\r\n`]) {
      assertNothing({ ...config(), privateKey: SecretKey.parse(file) }, device);
    }
  });

  it("an unclamped key in the file is the key that the device reads back", () => {
    assert.equal(secret(7).equals(secret(7).clamped()), false);
    assertNothing({ ...config(), privateKey: secret(7) }, device);
  });

  it("another key is set, also on a device that has none", () => {
    const wanted: DeviceConfig = { ...config(), privateKey: secret(8) };
    for (const actual of [device, status([]), { ...status([]), privateKey: secret(0) }]) {
      const change = diffDevice(wanted, actual, { now: NOW });
      assert.equal(change.privateKey?.equals(secret(8)), true);
      assert.equal(isEmptyDeviceChange(change), false);
    }
  });

  it("a plan without key leaves the device's alone", () => {
    assertNothing(config(), device);
    assertNothing({ ...config(), privateKey: secret(0) }, device);
  });
});

it("changing persistent-keepalive had no effect until restart (K-17, K-18)", () => {
  const before = [peer(1, ["10.5.0.1/32"]), peer(2, ["10.244.2.0/24"])];
  const after = [peer(1, ["10.5.0.1/32"], { persistentKeepalive: 25 }), before[1] ?? peer(2, [])];
  assert.deepEqual(peersOf(config(...after), status(before)), [
    { kind: "update", publicKey: key(1), persistentKeepalive: 25 },
  ]);
  assert.deepEqual(peersOf(config(...before), status(after)), [
    { kind: "update", publicKey: key(1), persistentKeepalive: 0 },
  ]);
});

it('returns "equal" at the first peer without endpoint, so later drift is never repaired (S-01)', () => {
  const wanted = config(peer(1, ["10.5.0.1/32"]), peer(2, ["10.5.0.2/32", "10.5.0.3/32"]));
  const actual = status([peer(1, ["10.5.0.1/32"]), peer(2, ["10.5.0.2/32"])]);
  assert.deepEqual(peersOf(wanted, actual), [
    { kind: "update", publicKey: key(2), allowedIPs: prefixes("10.5.0.2/32", "10.5.0.3/32") },
  ]);
});

it("host bits in allowed IPs make every resync a rewrite (S-02)", () => {
  assertNothing(
    config(peer(1, ["10.5.0.1/24", "fd00:0::1/64"])),
    status([peer(1, ["fd00::/64", "10.5.0.0/24"])]),
  );
});

describe("preshared keys", () => {
  const none = peer(1, ["10.5.0.1/32"]);
  const zero = peer(1, ["10.5.0.1/32"], { presharedKey: secret(0) });
  const first = peer(1, ["10.5.0.1/32"], { presharedKey: secret(1) });
  const second = peer(1, ["10.5.0.1/32"], { presharedKey: secret(2) });

  it("are set, changed and taken away", () => {
    for (const [wanted, actual] of [
      [first, none],
      [first, zero],
      [first, second],
    ] as const) {
      const [change] = peersOf(config(wanted), status([actual]));
      assert.ok(change?.kind === "update" && change.presharedKey?.equals(secret(1)) === true);
    }
    assert.deepEqual(peersOf(config(none), status([first])), [
      { kind: "update", publicKey: key(1), presharedKey: null },
    ]);
  });

  it("of zeros are none", () => {
    assertNothing(config(none), status([zero]));
    assertNothing(config(zero), status([none]));
    const added = diffDevice(config(zero), undefined, { now: NOW }).peers[0];
    assert.ok(added?.kind === "add" && added.presharedKey === undefined);
  });
});

describe("the port", () => {
  it("is set when it differs", () =>
    assert.equal(diffDevice(config(), { ...status([]), listenPort: 1 }, { now: NOW }).listenPort, 51820));
  it("0 leaves the choice to the device", () => assertNothing({ listenPort: 0, peers: [] }, status([])));
});

it("a device just made gets everything", () => {
  const wanted: DeviceConfig = {
    privateKey: secret(9),
    ...config(peer(1, ["10.5.0.1/32"], { presharedKey: secret(1) }), peer(2, [])),
  };
  const change = diffDevice(wanted, undefined, { now: NOW });
  assert.equal(change.listenPort, 51820);
  assert.equal(change.privateKey?.equals(secret(9)), true);
  assert.deepEqual(
    change.peers.map((p) => [p.kind, p.publicKey]),
    [
      ["add", key(1)],
      ["add", key(2)],
    ],
  );
});

describe("prefixes that move", () => {
  it("a leader changes: the new one takes the prefixes, then the old one goes", () => {
    const segment = ["10.244.1.0/24", "10.244.2.0/24", "10.4.0.1/32"];
    const unaffected = peer(9, ["10.244.9.0/24"]);
    const change = peersOf(config(peer(2, segment), unaffected), status([peer(1, segment), unaffected]));
    assert.deepEqual(
      change.map((p) => [p.kind, p.publicKey]),
      [
        ["add", key(2)],
        ["remove", key(1)],
      ],
    );
  });

  it("between two living peers: only the one that gains is named, for WireGuard takes it from the other", () => {
    const wanted = config(peer(1, ["10.244.1.0/24"]), peer(2, ["10.244.2.0/24", "10.5.0.0/24"]));
    const actual = status([peer(1, ["10.244.1.0/24", "10.5.0.0/24"]), peer(2, ["10.244.2.0/24"])]);
    assert.deepEqual(peersOf(wanted, actual), [
      { kind: "update", publicKey: key(2), allowedIPs: prefixes("10.244.2.0/24", "10.5.0.0/24") },
    ]);
  });

  it("the one that gains comes before the one that loses and gains elsewhere", () => {
    const wanted = config(peer(1, ["10.0.1.0/24", "10.0.9.0/24"]), peer(2, ["10.0.2.0/24"]));
    const actual = status([peer(1, ["10.0.1.0/24", "10.0.2.0/24"]), peer(2, [])]);
    assert.deepEqual(listsOf(peersOf(wanted, actual)), [
      [key(2), ["10.0.2.0/24"]],
      [key(1), ["10.0.1.0/24", "10.0.9.0/24"]],
    ]);
  });

  it("addresses are renumbered: lists change in place, each peer once, none removed", () => {
    const numbered = (offset: number): PeerConfig[] =>
      [1, 2, 3].map((n) => peer(n, [`10.244.${n}.0/24`, `10.4.0.${n + offset}/32`]));
    for (const [before, after] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const change = peersOf(config(...numbered(after)), status(numbered(before)));
      assert.deepEqual(new Set(change.map((p) => p.kind)), new Set(["update"]));
      assert.equal(change.length, 3);
      for (const [owner, list] of listsOf(change))
        assert.equal(list.length, 2, `${owner} holds on to nothing`);
    }
  });

  it("two peers swap: the first holds on to its prefix until the second takes it", () => {
    const wanted = config(peer(1, ["10.0.2.0/24"]), peer(2, ["10.0.1.0/24"]));
    const actual = status([peer(1, ["10.0.1.0/24"]), peer(2, ["10.0.2.0/24"])]);
    assert.deepEqual(listsOf(peersOf(wanted, actual)), [
      [key(2), ["10.0.1.0/24", "10.0.2.0/24"]],
      [key(1), ["10.0.2.0/24"]],
    ]);
  });

  it("5,000 peers are renumbered by one", () => {
    const many = (offset: number): PeerConfig[] =>
      Array.from({ length: 5000 }, (_, n) => {
        const address = n + offset;
        return peer(n + 1, [`10.4.${address >> 8}.${address & 255}/32`]);
      });
    for (const [before, after] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const change = peersOf(config(...many(after)), status(many(before)));
      assert.equal(change.length, 5000);
      for (const [, list] of listsOf(change)) assert.equal(list.length, 1);
    }
  });
});

function peersOf(wanted: DeviceConfig, actual: DeviceStatus, previous?: DeviceConfig): readonly PeerChange[] {
  return diffDevice(wanted, actual, { now: NOW, previous }).peers;
}

function listsOf(changes: readonly PeerChange[]): [string, string[]][] {
  return changes.map((change) => {
    assert.ok(change.kind !== "remove" && change.allowedIPs !== undefined);
    return [change.publicKey, change.allowedIPs.map((prefix) => prefix.text)];
  });
}

function assertNothing(wanted: DeviceConfig, actual: DeviceStatus, previous?: DeviceConfig): void {
  const change = diffDevice(wanted, actual, { now: NOW, previous });
  assert.deepEqual(change, { peers: [] });
  assert.equal(isEmptyDeviceChange(change), true);
}
