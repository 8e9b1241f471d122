import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Address, parseAddress } from "./address.ts";
import { isLocal, isPublic, isPublicForKilo } from "./classes.ts";

describe("a loopback, link-local, multicast or unspecified address names no host to others (K-24)", () => {
  const local = [
    "0.0.0.0",
    "127.0.0.1",
    "127.0.1.1",
    "127.255.255.255",
    "169.254.0.1",
    "169.254.169.254",
    "224.0.0.1",
    "239.255.255.255",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "fe80::1",
    "febf::1",
    "ff02::1",
    "ffff::",
  ];
  for (const text of local) {
    it(text, () => {
      assert.equal(isLocal(address(text)), true);
      assert.equal(isPublic(address(text)), false);
    });
  }
  const reachable = [
    "172.21.0.5",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "223.255.255.255",
    "1.0.0.0",
    "::2",
    "fec0::1",
    "fe7f::1",
    "fd00::1",
    "2001:db8::1",
  ];
  for (const text of reachable) it(`but not ${text}`, () => assert.equal(isLocal(address(text)), false));
});

describe("172.16.0.0/12 is wrongly classified (K-31)", () => {
  const table: readonly [text: string, ours: boolean, kilo: boolean][] = [
    ["172.15.255.1", true, true],
    ["172.15.255.255", true, true],
    ["172.16.0.0", false, false],
    ["172.16.0.1", false, false],
    ["172.24.135.46", false, false],
    ["172.31.255.1", false, false],
    ["172.32.0.1", true, true],
    ["172.160.255.255", true, true],
    ["10.0.0.1", false, false],
    ["9.255.255.255", true, true],
    ["11.0.0.0", true, true],
    ["192.168.0.0", false, false],
    ["192.169.0.0", true, true],
    ["100.63.255.255", true, true],
    ["100.64.0.1", false, true],
    ["100.127.255.255", false, true],
    ["100.128.0.0", true, true],
    ["198.17.255.255", true, true],
    ["198.18.0.1", false, true],
    ["198.19.255.255", false, true],
    ["198.20.0.0", true, true],
    ["240.0.0.1", false, true],
    ["fd00::1", false, false],
    ["fd00:ffff::1", false, false],
    ["fd01::1", false, true],
    ["fd68:1::1", false, true],
    ["fc00::1", false, true],
    ["fe00::1", true, true],
    ["2001::7", true, true],
    ["203.0.113.5", true, true],
  ];
  for (const [text, ours, kilo] of table) {
    it(`${text}: public here ${ours}, for Kilo ${kilo}`, () => {
      assert.equal(isPublic(address(text)), ours);
      assert.equal(isPublicForKilo(address(text)), kilo);
    });
  }
});

function address(text: string): Address {
  const parsed = parseAddress(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
}
