import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { addressAt, hostPrefix } from "../../ip/index.ts";
import { ByteWriter, listAttributes, readAttributes, readU32 } from "../netlink/index.ts";
import { endpoint, prefixes, publicKey, secretKey } from "./fixtures.test-kit.ts";
import { decodeDevice, encodeGet, encodeSet } from "./genetlink.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(/[\s|]/g, ""), "hex"));

/** "kilo0" with its zero, padded. */
const NAME = "0a000200 6b696c6f30000000";

test("golden: the request that reads kilo0", () => {
  assert.equal(hex(encodeGet("kilo0")), hex(bytes(`00010000 ${NAME}`)));
});

test("golden: port, key and a peer of both families (linux/wireguard.h, little endian)", () => {
  const [payload, ...more] = encodeSet("kilo0", {
    privateKey: secretKey(1),
    listenPort: 51820,
    peers: [
      {
        kind: "add",
        publicKey: publicKey(2),
        endpoint: endpoint("192.0.2.7:51820"),
        persistentKeepalive: 10,
        allowedIPs: prefixes("10.4.0.1/32", "fd00::/8"),
      },
      { kind: "update", publicKey: publicKey(3), endpoint: endpoint("[2001:db8::1]:443") },
      { kind: "remove", publicKey: publicKey(4) },
    ],
  });
  assert.deepEqual(more, []);
  const peer2 = `
    24000100 ${"02".repeat(32)}
    08000300 02000000
    14000400 0200 ca6c c0000207 0000000000000000
    06000500 0a000000
    48000980
      1c000080 06000100 02000000 08000200 0a040001 05000300 20000000
      28000080 06000100 0a000000 14000200 fd000000000000000000000000000000 05000300 08000000`;
  const peer3 = `24000100 ${"03".repeat(32)} 08000300 04000000 20000400 0a00 01bb 00000000 20010db8000000000000000000000001 00000000`;
  const peer4 = `24000100 ${"04".repeat(32)} 08000300 01000000`;
  const entry = (text: string): string =>
    `${hex(new ByteWriter().u16(bytes(text).length + 4).finish())}0080 ${text}`;
  const list = [peer2, peer3, peer4].map(entry).join("");
  const listHeader = `${hex(new ByteWriter().u16(bytes(list).length + 4).finish())}0880`;
  assert.equal(
    hex(payload ?? new Uint8Array()),
    hex(bytes(`01010000 ${NAME} 24000300 ${"01".repeat(32)} 06000600 6cca0000 ${listHeader} ${list}`)),
  );
});

test("no preshared key is 32 zero bytes", () => {
  const [payload] = encodeSet("kilo0", {
    peers: [{ kind: "update", publicKey: publicKey(2), presharedKey: null }],
  });
  assert.ok(hex(payload ?? new Uint8Array()).endsWith(`24000200${"00".repeat(32)}`));
});

test("a change without peers is one message", () => {
  assert.equal(encodeSet("kilo0", { listenPort: 1, peers: [] }).length, 1);
});

/** A dump's part as the kernel writes it. */
function part(peers: readonly string[], device = ""): Uint8Array {
  const writer = new ByteWriter().raw(bytes(`00010000 ${device}`));
  writer.nested(8, (list) => {
    for (const peer of peers) list.attribute(0x8000, bytes(peer));
  });
  return writer.finish();
}

test("golden: a dump in two parts; a peer that goes on keeps its counters and gets more allowed IPs", () => {
  const first = `
    24000100 ${"02".repeat(32)} 24000200 ${"00".repeat(32)}
    14000600 bca50e6b00000000 0500000000000000
    06000500 19000000
    0c000800 0800000000000000 0c000700 0700000000000000 08000a00 01000000
    14000400 0200 9c41 cb007109 0000000000000000
    20000980 1c000080 06000100 02000000 08000200 0a040002 05000300 20000000`;
  const goesOn = `24000100 ${"02".repeat(32)} 20000980 1c000080 06000100 02000000 08000200 0a020000 05000300 18000000`;
  const other = `24000100 ${"03".repeat(32)}`;
  const device = `24000300 ${"01".repeat(32)} 06000600 6cca0000 08000700 00000000`;
  const read = decodeDevice([part([first], device), part([goesOn, other], device)]);
  assert.equal(read.listenPort, 51820);
  assert.ok(read.privateKey?.equals(secretKey(1)));
  assert.equal(read.peers.length, 2);
  assert.deepEqual(read.peers[0], {
    publicKey: publicKey(2),
    presharedKey: undefined,
    endpoint: endpoint("203.0.113.9:40001"),
    allowedIPs: prefixes("10.2.0.0/24", "10.4.0.2/32"),
    persistentKeepalive: 25,
    latestHandshake: 0x6b0ea5bc,
    receivedBytes: 7,
    sentBytes: 8,
  });
});

test("a large change is split; only the first part of a peer replaces, and all allowed IPs arrive", () => {
  const [pool] = prefixes("10.0.0.0/16");
  assert.ok(pool !== undefined);
  const many = Array.from({ length: 1000 }, (_, index) => addressAt(pool, index)).flatMap((address) =>
    address ? [hostPrefix(address)] : [],
  );
  const payloads = encodeSet("kilo0", {
    listenPort: 51820,
    peers: [
      { kind: "add", publicKey: publicKey(2), allowedIPs: many },
      { kind: "add", publicKey: publicKey(3), allowedIPs: prefixes("10.9.0.0/24") },
    ],
  });
  assert.ok(payloads.length > 1);
  assert.ok(payloads.every((payload) => payload.length < 8192));
  assert.equal(
    payloads.filter((payload) => readAttributes(payload.subarray(4)).has(6)).length,
    1,
    "the port is sent once",
  );
  const flags = payloads.flatMap((payload) =>
    listAttributes(readAttributes(payload.subarray(4)).get(8) ?? new Uint8Array()).map((peer) =>
      readU32(readAttributes(peer.data).get(3)),
    ),
  );
  assert.deepEqual(flags, [2, ...new Array(flags.length - 2).fill(4), 2]);
  // The kernel's answer has the same form as a request.
  const read = decodeDevice(payloads);
  assert.deepEqual(
    read.peers.map((peer) => peer.allowedIPs.length),
    [1000, 1],
  );
});

test("fuzz: whatever bytes come, they are read without an exception", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 4 }), (parts) => {
      assert.ok(Array.isArray(decodeDevice(parts).peers));
    }),
  );
  const whole = part([
    `24000100 ${"02".repeat(32)} 20000980 1c000080 06000100 02000000 08000200 0a020000 05000300 18000000`,
  ]);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, value) => {
      const broken = Uint8Array.from(whole);
      broken[at] = value;
      assert.ok(decodeDevice([broken]).peers.length <= 1);
    }),
  );
});
