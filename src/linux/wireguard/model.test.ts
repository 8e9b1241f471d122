import assert from "node:assert/strict";
import { test } from "node:test";
import { endpoint, prefixes, publicKey, secretKey } from "./fixtures.test-kit.ts";
import { applyToDevice, EMPTY_DEVICE } from "./model.ts";

const two = applyToDevice(EMPTY_DEVICE, {
  privateKey: secretKey(1),
  listenPort: 51820,
  peers: [
    {
      kind: "add",
      publicKey: publicKey(2),
      presharedKey: secretKey(9),
      allowedIPs: prefixes("10.2.0.0/24", "10.1.0.0/24"),
    },
    {
      kind: "add",
      publicKey: publicKey(3),
      endpoint: endpoint("192.0.2.3:1"),
      allowedIPs: prefixes("10.3.0.0/24"),
      persistentKeepalive: 5,
    },
  ],
});

test("what a change does not name stays", () => {
  const after = applyToDevice(two, {
    peers: [{ kind: "update", publicKey: publicKey(3), persistentKeepalive: 0 }],
  });
  assert.deepEqual(after.peers[1], { ...two.peers[1], persistentKeepalive: 0 });
  assert.equal(after.peers[0], two.peers[0]);
  assert.equal(after.listenPort, 51820);
});

test("allowed IPs are sorted; an update makes no peer; null takes the preshared key away", () => {
  assert.deepEqual(two.peers[0]?.allowedIPs, prefixes("10.1.0.0/24", "10.2.0.0/24"));
  assert.equal(applyToDevice(two, { peers: [{ kind: "update", publicKey: publicKey(7) }] }).peers.length, 2);
  const bare = applyToDevice(two, {
    peers: [{ kind: "update", publicKey: publicKey(2), presharedKey: null }],
  });
  assert.equal(bare.peers[0]?.presharedKey, undefined);
});

test("a prefix moves to the peer that got it last", () => {
  const after = applyToDevice(two, {
    peers: [{ kind: "update", publicKey: publicKey(3), allowedIPs: prefixes("10.1.0.0/24") }],
  });
  assert.deepEqual(
    after.peers.map((peer) => peer.allowedIPs),
    [prefixes("10.2.0.0/24"), prefixes("10.1.0.0/24")],
  );
});

test("a removed peer is gone", () => {
  const after = applyToDevice(two, { peers: [{ kind: "remove", publicKey: publicKey(2) }] });
  assert.deepEqual(after.peers, [two.peers[1]]);
});
