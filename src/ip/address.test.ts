import assert from "node:assert/strict";
import { isIP } from "node:net";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  addressFromBytes,
  addressToBytes,
  compareAddresses,
  familyBits,
  makeAddress,
  parseAddress,
} from "./address.ts";
import { anyAddress } from "./arbitraries.test-kit.ts";

/** Spellings that some tools accept and others read as another address, or refuse (libraries.md §4). */
const REJECTED = [
  "",
  " ",
  "1",
  "10",
  "10.0",
  "10.0.0",
  "10.0.0.",
  ".10.0.0.1",
  "10..0.1",
  "10.0.0.0.1",
  "10.0.0.256",
  "10.0.0.999",
  "10.0.0.1000",
  "256.0.0.1",
  "010.0.0.1",
  "10.0.0.01",
  "10.0.0.00",
  "0x7f.1",
  "0x7f.0.0.1",
  "0x7f000001",
  "2130706433",
  "10.0.0.-1",
  "10.0.0.+1",
  "10.0.0.1e0",
  "10.0.0.1 ",
  " 10.0.0.1",
  "10.0.0.1\n",
  "10.0.0.1\u0000",
  "10,0,0,1",
  "10.0.0.1/32",
  "10.0.0.1:80",
  "\u0661\u0660.0.0.1",
  ":",
  ":::",
  "::::",
  "1:",
  ":1",
  "1::2::3",
  "::1::",
  "1:::2",
  "g::",
  "::g",
  "12345::",
  "::00001",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7:8::",
  "::1:2:3:4:5:6:7:8",
  "1:2:3:4::5:6:7:8",
  "1:2:3:4:5:6:7:",
  ":2:3:4:5:6:7:8",
  "fe80::1%eth0",
  "fe80::1%1",
  "::1%",
  "[::1]",
  "::1/128",
  "::-1",
  "::0x1",
  " ::1",
  "::1 ",
  "::1\n",
  "::ffff:010.0.0.1",
  "::ffff:10.0.0",
  "::ffff:10.0.0.256",
  "::10.0.0.1:1",
  "10.0.0.1::",
  "1.2.3.4:1:2:3:4:5:6",
  "1:2:3:4:5:6:7:1.2.3.4",
  "::ffff:1.2.3.4.5",
  "localhost",
  "abc",
];

describe("parseAddress", () => {
  for (const text of REJECTED) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseAddress(text), undefined));
  }

  it("reads the corners of IPv4", () => {
    assert.equal(parseAddress("0.0.0.0")?.value, 0n);
    assert.equal(parseAddress("255.255.255.255")?.value, 2n ** 32n - 1n);
    assert.equal(parseAddress("128.0.0.1")?.text, "128.0.0.1");
    assert.equal(parseAddress("1.2.3.4")?.value, 0x01020304n);
  });

  it("reads the corners of IPv6", () => {
    assert.equal(parseAddress("::")?.value, 0n);
    assert.equal(parseAddress("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")?.value, 2n ** 128n - 1n);
    assert.equal(parseAddress("1:2:3:4:5:6:7::")?.value, 0x00010002000300040005000600070000n);
    assert.equal(parseAddress("::2:3:4:5:6:7:8")?.value, 0x00000002000300040005000600070008n);
    assert.equal(parseAddress("1:2:3:4:5:6:1.2.3.4")?.value, 0x00010002000300040005000601020304n);
  });

  it("leaves an IPv4-mapped address IPv6", () => assert.equal(parseAddress("::ffff:10.0.0.1")?.family, 6));
});

describe("the canonical text (RFC 5952)", () => {
  const table: readonly [written: string, canonical: string][] = [
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:0db8::0001", "2001:db8::1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:DB8::AaAa", "2001:db8::aaaa"],
    ["2001:db8:0000:0000:0000:0000:0000:0000", "2001:db8::"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["1:0:0:0:0:0:0:0", "1::"],
    ["1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"],
    ["1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:0"],
    ["0:0:3:4:5:6:0:0", "::3:4:5:6:0:0"],
    ["::ffff:0a00:0001", "::ffff:10.0.0.1"],
    ["::FFFF:1.2.3.4", "::ffff:1.2.3.4"],
    ["::1.2.3.4", "::102:304"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
    ["::fffe:102:304", "::fffe:102:304"],
    ["1::ffff:1.2.3.4", "1::ffff:102:304"],
  ];
  for (const [written, canonical] of table) {
    it(`writes ${written} as ${canonical}`, () => assert.equal(parseAddress(written)?.text, canonical));
  }
});

describe("addresses, whatever they are", () => {
  it("come back from their text and from their bytes", () => {
    fc.assert(
      fc.property(anyAddress(), (address) => {
        assert.deepEqual(parseAddress(address.text), address);
        assert.deepEqual(addressFromBytes(addressToBytes(address)), address);
        assert.equal(isIP(address.text), address.family);
      }),
    );
  });

  it("are equal exactly when their texts are, and ordered totally", () => {
    fc.assert(
      fc.property(anyAddress(), anyAddress(), anyAddress(), (a, b, c) => {
        assert.equal(compareAddresses(a, b) === 0, a.text === b.text);
        assert.equal(Math.sign(compareAddresses(a, b)), -Math.sign(compareAddresses(b, a)) + 0);
        const [first, second, third] = [a, b, c].sort(compareAddresses);
        assert.ok(first !== undefined && second !== undefined && third !== undefined);
        assert.ok(compareAddresses(first, third) <= 0 && compareAddresses(second, third) <= 0);
      }),
    );
  });

  it("have one canonical text for every spelling of their groups", () => {
    const group = fc.tuple(fc.integer({ min: 0, max: 0xffff }), fc.boolean(), fc.boolean());
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map(([value]) => value.toString(16).padStart(4, "0")).join(":");
        const mixed = groups.map(([value, pad, upper]) => {
          const hex = value.toString(16).padStart(pad ? 4 : 1, "0");
          return upper ? hex.toUpperCase() : hex;
        });
        assert.equal(parseAddress(mixed.join(":"))?.text, parseAddress(long)?.text);
        assert.notEqual(parseAddress(long), undefined);
      }),
    );
  });

  it("are never read from what node:net calls no address", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0123456789abcdefF.:%/x ") }), (text) => {
        const address = parseAddress(text);
        const family = text.includes("%") ? 0 : isIP(text);
        assert.equal(address?.family ?? 0, family);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("numbers and bytes", () => {
  it("refuses a number that the family has not", () => {
    assert.throws(() => makeAddress(4, 2n ** 32n), RangeError);
    assert.throws(() => makeAddress(6, 2n ** 128n), RangeError);
    assert.throws(() => makeAddress(4, -1n), RangeError);
  });

  it("reads 4 or 16 bytes only", () => {
    for (const length of [0, 1, 3, 5, 8, 15, 17]) {
      assert.equal(addressFromBytes(new Uint8Array(length)), undefined);
    }
    assert.equal(addressFromBytes(Uint8Array.of(10, 0, 0, 1))?.text, "10.0.0.1");
    assert.deepEqual([familyBits(4), familyBits(6)], [32, 128]);
  });
});
