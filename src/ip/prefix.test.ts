import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { addressFromBytes, compareAddresses, familyBits, parseAddress } from "./address.ts";
import { anyAddress, anyPrefix, crowdedAddresses, crowdedPrefix } from "./arbitraries.test-kit.ts";
import {
  addressAt,
  comparePrefixes,
  containsAddress,
  containsPrefix,
  hostPrefix,
  interfaceAddress,
  lastAddress,
  makePrefix,
  networkOf,
  overlaps,
  type Prefix,
  parseInterfaceAddress,
  parsePrefix,
} from "./prefix.ts";

const REJECTED = [
  "",
  "/",
  "/8",
  "10.0.0.0",
  "::",
  "10.0.0.0/",
  "10.0.0.0/08",
  "10.0.0.0/00",
  "10.0.0.0/33",
  "10.0.0.0/128",
  "10.0.0.0/-1",
  "10.0.0.0/+8",
  "10.0.0.0/8 ",
  "10.0.0.0/ 8",
  "10.0.0.0 /8",
  " 10.0.0.0/8",
  "10.0.0.0/8\n",
  "10.0.0.0/8/8",
  "10.0.0.0//8",
  "10.0.0.0/0x8",
  "10.0.0.0/8.0",
  "10.0.0.0/1e1",
  "10.0.0.0/255.0.0.0",
  "10.0.0/24",
  "10/8",
  "010.0.0.0/8",
  "10.0.0.256/32",
  "0x0a.0.0.0/8",
  "::/129",
  "::/064",
  "::/1000",
  "1::2::3/64",
  "g::/16",
  "fe80::1%eth0/64",
  "fe80::1/64%eth0",
  "[::]/0",
];

describe("parsePrefix", () => {
  for (const text of REJECTED) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.equal(parsePrefix(text), undefined);
      assert.equal(parseInterfaceAddress(text), undefined);
    });
  }

  it("clears host bits, so that what the kernel reads back is equal (S-02)", () => {
    assert.equal(parsePrefix("10.5.0.1/24")?.text, "10.5.0.0/24");
    assert.equal(parsePrefix("10.5.0.1/0")?.text, "0.0.0.0/0");
    assert.equal(parsePrefix("2001:DB8::1/64")?.text, "2001:db8::/64");
    assert.equal(parsePrefix("ffff::ffff/127")?.text, "ffff::fffe/127");
  });

  it("keeps the host bits of an interface's address", () => {
    const address = parseInterfaceAddress("10.0.0.5/24");
    assert.equal(address?.text, "10.0.0.5/24");
    assert.ok(address !== undefined);
    assert.equal(networkOf(address).text, "10.0.0.0/24");
  });
});

describe("parts of a prefix", () => {
  it("has a last address", () => {
    assert.equal(lastAddress(prefix("10.4.0.0/16")).text, "10.4.255.255");
    assert.equal(lastAddress(prefix("0.0.0.0/0")).text, "255.255.255.255");
    assert.equal(lastAddress(prefix("fd00::/127")).text, "fd00::1");
    assert.equal(lastAddress(prefix("10.0.0.1/32")).text, "10.0.0.1");
  });

  it("counts addresses from its base, and ends", () => {
    assert.equal(addressAt(prefix("10.4.0.0/16"), 1)?.text, "10.4.0.1");
    assert.equal(addressAt(prefix("10.4.0.0/16"), 65535)?.text, "10.4.255.255");
    assert.equal(addressAt(prefix("10.4.0.0/16"), 65536), undefined);
    assert.equal(addressAt(prefix("10.4.0.0/30"), -1), undefined);
    assert.equal(addressAt(prefix("fd00::/64"), 2 ** 40)?.text, "fd00::100:0:0");
  });

  it("refuses a length that the family has not", () => {
    const address = hostPrefix(prefix("10.0.0.1/32").base).base;
    for (const length of [-1, 33, 1.5, Number.NaN]) {
      assert.throws(() => makePrefix(address, length), RangeError);
      assert.throws(() => interfaceAddress(address, length), RangeError);
    }
  });
});

describe("prefixes, whatever they are", () => {
  it("come back from their text", () => {
    fc.assert(fc.property(anyPrefix(), (p) => assert.deepEqual(parsePrefix(p.text), p)));
  });

  it("have no host bits, and hold their first and last address", () => {
    fc.assert(
      fc.property(anyPrefix(), (p) => {
        assert.equal(makePrefix(lastAddress(p), p.length).text, p.text);
        assert.ok(containsAddress(p, p.base));
        assert.ok(containsAddress(p, lastAddress(p)));
      }),
    );
  });

  it("contain an address exactly when their leading bits are its own", () => {
    fc.assert(
      fc.property(anyPrefix(), anyAddress(), (p, address) => {
        const sameBits =
          p.family === address.family && makePrefix(address, p.length).base.text === p.base.text;
        assert.equal(containsAddress(p, address), sameBits);
      }),
    );
  });

  it("contain each other as sets of addresses do", () => {
    const everyAddress = crowdedAddresses();
    fc.assert(
      fc.property(crowdedPrefix(), crowdedPrefix(), (a, b) => {
        const inA = everyAddress.filter((address) => containsAddress(a, address));
        const inB = everyAddress.filter((address) => containsAddress(b, address));
        assert.equal(
          containsPrefix(a, b),
          inB.every((address) => inA.includes(address)),
        );
        assert.equal(
          overlaps(a, b),
          inB.some((address) => inA.includes(address)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("are ordered by containment: reflexive, antisymmetric, transitive", () => {
    fc.assert(
      fc.property(crowdedPrefix(), crowdedPrefix(), crowdedPrefix(), (a, b, c) => {
        assert.ok(containsPrefix(a, a));
        if (containsPrefix(a, b) && containsPrefix(b, a)) assert.equal(a.text, b.text);
        if (containsPrefix(a, b) && containsPrefix(b, c)) assert.ok(containsPrefix(a, c));
        assert.equal(overlaps(a, b), overlaps(b, a));
      }),
      { numRuns: 1000 },
    );
  });

  it("stand before everything inside them", () => {
    fc.assert(
      fc.property(anyPrefix(), fc.nat(), (outer, more) => {
        const bits = familyBits(outer.family);
        const inner = makePrefix(lastAddress(outer), Math.min(bits, outer.length + (more % (bits + 1))));
        assert.ok(containsPrefix(outer, inner));
        assert.ok(comparePrefixes(outer, inner) <= 0);
        assert.equal(comparePrefixes(outer, inner) === 0, outer.text === inner.text);
      }),
    );
  });
});

it("families never mix: 0.0.0.0/0 holds no IPv6 address", () => {
  const v6 = addressFromBytes(new Uint8Array(16));
  const v4 = parseAddress("0.0.0.0");
  assert.ok(v6 !== undefined && v4 !== undefined);
  assert.equal(containsAddress(prefix("0.0.0.0/0"), v6), false);
  assert.equal(overlaps(prefix("0.0.0.0/0"), prefix("::/0")), false);
  assert.ok(compareAddresses(v4, v6) < 0);
});

function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
}
