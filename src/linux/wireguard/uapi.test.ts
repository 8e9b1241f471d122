import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import type { DeviceChange } from "../../wireguard/index.ts";
import { DeviceError } from "./errors.ts";
import { endpoint, prefixes, publicKey, secretKey } from "./fixtures.test-kit.ts";
import { decodeGet, decodeSetReply, encodeSet } from "./uapi.ts";

const K1 = "01".repeat(32);
const K2 = "02".repeat(32);
const K3 = "03".repeat(32);
const ZERO = "00".repeat(32);

test("a set: keys in hex, one block a peer, ended by an empty line", () => {
  const change: DeviceChange = {
    privateKey: secretKey(1),
    listenPort: 51820,
    peers: [
      {
        kind: "add",
        publicKey: publicKey(2),
        presharedKey: secretKey(3),
        endpoint: endpoint("[fd00::1]:51820"),
        allowedIPs: prefixes("10.4.0.1/32", "fd00:1::/64"),
        persistentKeepalive: 10,
      },
      { kind: "update", publicKey: publicKey(3), presharedKey: null, allowedIPs: [] },
      { kind: "remove", publicKey: publicKey(1) },
    ],
  };
  assert.equal(
    encodeSet(change),
    `set=1\nprivate_key=${K1}\nlisten_port=51820\n` +
      `public_key=${K2}\npreshared_key=${K3}\nendpoint=[fd00::1]:51820\npersistent_keepalive_interval=10\n` +
      "replace_allowed_ips=true\nallowed_ip=10.4.0.1/32\nallowed_ip=fd00:1::/64\n" +
      `public_key=${K3}\nupdate_only=true\npreshared_key=${ZERO}\nreplace_allowed_ips=true\n` +
      `public_key=${K1}\nremove=true\n\n`,
  );
});

test("what a change does not name is not in the set", () => {
  assert.equal(
    encodeSet({ peers: [{ kind: "update", publicKey: publicKey(2) }] }),
    `set=1\npublic_key=${K2}\nupdate_only=true\n\n`,
  );
});

const REPLY = [
  `private_key=${K1}`,
  "listen_port=51820",
  "fwmark=7",
  `public_key=${K2}`,
  `preshared_key=${ZERO}`,
  "protocol_version=1",
  "endpoint=203.0.113.9:40001",
  "last_handshake_time_sec=1796129148",
  "last_handshake_time_nsec=5",
  "tx_bytes=9007199254740993",
  "rx_bytes=12",
  "persistent_keepalive_interval=25",
  "allowed_ip=10.4.0.2/32",
  "allowed_ip=10.2.0.0/24",
  `public_key=${K3}`,
  "endpoint=[fe80::1%eth0]:51820",
  "allowed_ip=fd00::/64",
  "errno=0",
  "",
  "",
].join("\n");

test("a get: peers with what WireGuard learned, allowed IPs sorted, a zero preshared key is none", () => {
  const device = decodeGet(REPLY);
  assert.equal(device.listenPort, 51820);
  assert.ok(device.privateKey?.equals(secretKey(1)));
  const [first, second] = device.peers;
  assert.deepEqual(first, {
    publicKey: publicKey(2),
    presharedKey: undefined,
    endpoint: endpoint("203.0.113.9:40001"),
    persistentKeepalive: 25,
    latestHandshake: 1796129148,
    receivedBytes: 12,
    sentBytes: 9007199254740992,
    allowedIPs: prefixes("10.2.0.0/24", "10.4.0.2/32"),
  });
  assert.equal(second?.endpoint, undefined, "an endpoint with a zone is of no use to others");
  assert.equal(second?.latestHandshake, 0);
});

test("a device that was just made has neither key nor peers", () => {
  assert.deepEqual(decodeGet(`private_key=${ZERO}\nerrno=0\n\n`), {
    privateKey: undefined,
    listenPort: 0,
    peers: [],
  });
});

test("errno is told as a positive number, its absence is an error", () => {
  assert.equal(decodeSetReply("errno=0\n\n"), 0);
  assert.equal(decodeSetReply("errno=-98\n\n"), 98);
  assert.throws(() => decodeSetReply("\n\n"), { code: "DEVICE_REPLY" });
  assert.throws(() => decodeGet("errno=1\n\n"), { code: "DEVICE_REFUSED", errno: 1 });
});

test("a reply with a bad key is refused, and the key is not in the error", () => {
  const secret = "ab".repeat(31);
  for (const field of ["private_key", "public_key"]) {
    assert.throws(
      () => decodeGet(`${field}=${secret}\nerrno=0\n\n`),
      (error) =>
        error instanceof DeviceError && error.code === "DEVICE_REPLY" && !inspect(error).includes("abab"),
    );
  }
});

test("fuzz: any reply is read or refused by a DeviceError", () => {
  const lines = fc.constantFrom(
    ...REPLY.split("\n"),
    "=",
    "public_key=",
    "allowed_ip=10.0.0.0",
    "rx_bytes=x",
    "errno=",
    "\0",
  );
  const reply = fc.array(fc.oneof(lines, fc.string()), { maxLength: 20 }).map((parts) => parts.join("\n"));
  fc.assert(
    fc.property(reply, (text) => {
      try {
        const device = decodeGet(text);
        assert.ok(device.peers.every((peer) => peer.publicKey.length === 44));
      } catch (error) {
        assert.ok(error instanceof DeviceError, String(error));
      }
    }),
    { numRuns: 500 },
  );
});
