/** The `discovered-endpoints` annotation, as Kilo's agents write and read it. */
import assert from "node:assert/strict";
import test from "node:test";
import { endpoint, K1, K2 } from "../fixtures.test-kit.ts";
import { formatDiscoveredEndpoints, readDiscoveredEndpoints } from "./discovered-endpoints.ts";

test("what is written is what is read, keys sorted, both families", () => {
  const endpoints = [
    { publicKey: K2, endpoint: endpoint("[2001:db8::7]:4000") },
    { publicKey: K1, endpoint: endpoint("198.51.100.7:51820") },
  ];
  const text = formatDiscoveredEndpoints(endpoints);
  assert.equal(
    text,
    `{"${K1}":{"IP":"198.51.100.7","Port":51820,"Zone":""},"${K2}":{"IP":"2001:db8::7","Port":4000,"Zone":""}}`,
  );
  assert.deepEqual(readDiscoveredEndpoints(text), [...endpoints].reverse());
});

test("nothing computed, and nothing found", () => {
  assert.deepEqual(readDiscoveredEndpoints(""), []);
  assert.deepEqual(readDiscoveredEndpoints("{}"), []);
  assert.equal(formatDiscoveredEndpoints([]), "{}");
});

test("a bad entry harms only itself; what is no object is refused", () => {
  const good = { IP: "198.51.100.7", Port: 51820, Zone: "" };
  const text = JSON.stringify({
    [K1]: good,
    notakey: good,
    [K2]: { IP: "127.0.0.1", Port: 1 },
    constructor: null,
  });
  assert.deepEqual(
    readDiscoveredEndpoints(text)?.map(({ publicKey }) => publicKey),
    [K1],
  );
  for (const entry of [
    { IP: "x", Port: 1 },
    { IP: "192.0.2.1", Port: 0 },
    { IP: "192.0.2.1", Port: 70_000 },
    {},
    null,
    7,
  ]) {
    assert.deepEqual(readDiscoveredEndpoints(JSON.stringify({ [K1]: entry })), []);
  }
  for (const refused of ["foo", "[]", "7", "null"]) assert.equal(readDiscoveredEndpoints(refused), undefined);
});
