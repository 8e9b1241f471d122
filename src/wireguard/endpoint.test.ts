import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatEndpoint, isDnsName, parseEndpoint, parsePort, sameEndpoint } from "./endpoint.ts";

describe("parseEndpoint (kilo.md §2.1, §5.7)", () => {
  const accepted: readonly [text: string, kind: "address" | "name", canonical: string][] = [
    ["10.0.0.0:1000", "address", "10.0.0.0:1000"],
    ["[ff50::10]:1000", "address", "[ff50::10]:1000"],
    ["[FD00:0::1]:51820", "address", "[fd00::1]:51820"],
    ["55.55.55.55:51820", "address", "55.55.55.55:51820"],
    ["example.com:1337", "name", "example.com:1337"],
    ["localhost:1", "name", "localhost:1"],
    ["a-b.c-1.example:65535", "name", "a-b.c-1.example:65535"],
    ["1a.example:80", "name", "1a.example:80"],
  ];
  for (const [text, kind, canonical] of accepted) {
    it(`reads ${text}`, () => {
      const parsed = parseEndpoint(text);
      assert.ok(parsed !== undefined);
      assert.equal(parsed.kind, kind);
      assert.equal(formatEndpoint(parsed), canonical);
      assert.deepEqual(parseEndpoint(canonical), parsed);
    });
  }

  const refused = [
    "",
    "-",
    ":1000",
    "10.0.0.0",
    "10.0.0.0:",
    "10.0.0.0:0",
    "10.0.0.0:65536",
    "10.0.0.0:080",
    "10.0.0.0:-1",
    "10.0.0.0: 80",
    "10.0.0.0:80 ",
    "10.0.0.256:80",
    "10.0.0:80",
    "010.0.0.1:80",
    "ff50::10",
    "ff50::10:1000",
    "[ff50::10]",
    "[10.0.0.1]:80",
    "[fe80::1%eth0]:80",
    "[example.com]:80",
    "Example.com:80",
    "example_com:80",
    "-a.example:80",
    "a-.example:80",
    "a..example:80",
    "example.com.:80",
    `${"a".repeat(64)}:80`,
    `${"a.".repeat(126)}aa:80`,
    "http://example.com:80",
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseEndpoint(text), undefined));
  }
});

it("names have labels of at most 63 and at most 253 characters", () => {
  assert.equal(isDnsName("a".repeat(63)), true);
  assert.equal(isDnsName(`${"a.".repeat(126)}a`), true);
  assert.equal(isDnsName(`${"a.".repeat(126)}aa`), false);
  assert.equal(isDnsName(""), false);
});

it("ports are 1 to 65535", () => {
  assert.deepEqual(["1", "51820", "65535"].map(parsePort), [1, 51820, 65535]);
  assert.deepEqual(
    ["0", "65536", "99999", "1.0", "+1", "0x1", "", "1e3"].map(parsePort),
    Array(8).fill(undefined),
  );
});

it("endpoints are the same when their canonical texts are", () => {
  const one = parseEndpoint("[fd00:0::1]:1");
  assert.equal(sameEndpoint(one, parseEndpoint("[fd00::1]:1")), true);
  assert.equal(sameEndpoint(one, parseEndpoint("[fd00::1]:2")), false);
  assert.equal(sameEndpoint(one, undefined), false);
  assert.equal(sameEndpoint(undefined, undefined), true);
});
