import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseAddress, parsePrefix } from "../ip/index.ts";
import { parseLink } from "./links.ts";
import { parseAddressMessage } from "./links-addresses.ts";
import { listAttributes, type NetlinkMessage, NLM_F_CREATE, NLM_F_EXCL } from "./netlink/index.ts";
import { addRouteRequest, parseRoute, type RouteToWrite, removeRouteRequest } from "./routes-codec.ts";
import { parseRule } from "./rules.ts";

const ROUTE: RouteToWrite = {
  kind: "unicast",
  destination: prefix("10.2.1.0/24"),
  link: 7,
  gateway: address("10.4.0.2"),
  source: address("10.0.0.1"),
  table: 1107,
  metric: 0,
  protocol: 171,
};

test("golden bytes: an onlink route with source in the policy table", () => {
  const request = addRouteRequest(ROUTE, NLM_F_CREATE | NLM_F_EXCL, "add");
  assert.equal(
    Buffer.from(request.payload).toString("hex"),
    [
      "02180000" + "00ab0001" + "04000000", // AF_INET /24, table by attribute, protocol 171, universe, unicast, onlink
      "080001000a020100", // destination
      "08000f0053040000", // table 1107
      "0800060000000000", // metric 0
      "080005000a040002", // gateway
      "0800040007000000", // link
      "080007000a000001", // preferred source
    ].join(""),
  );
  assert.equal(request.flags, 0x600);
});

test("what is written reads back the same, for both families, kinds and any metric", () => {
  const family4 = fc.record({ destination: fc.constant("10.2.1.0/24"), gateway: fc.constant("10.4.0.2") });
  const family6 = fc.record({ destination: fc.constant("fd02::/64"), gateway: fc.constant("fd04::2") });
  const shape = fc.tuple(
    fc.oneof(family4, family6),
    fc.boolean(),
    fc.integer({ min: 0, max: 0xffff_ffff }).filter((metric) => metric !== 1024),
    fc.constantFrom(254, 1107),
  );
  fc.assert(
    fc.property(shape, ([texts, withGateway, metric, table]) => {
      const written: RouteToWrite = {
        kind: "unicast",
        destination: prefix(texts.destination),
        link: 3,
        gateway: withGateway ? address(texts.gateway) : undefined,
        source: undefined,
        table,
        metric,
        protocol: 171,
      };
      const read = parseRoute(message(addRouteRequest(written, 0, "add").payload));
      const { family, onlink, dead, complex, ...same } = read ?? assert.fail("not read");
      assert.deepEqual(same, written);
      assert.deepEqual(
        [family, onlink, dead, complex],
        [written.destination.family, withGateway, false, false],
      );
    }),
  );
});

test("IPv6's default metric stands for 0, in both directions", () => {
  const v6 = { ...ROUTE, destination: prefix("fd02::/64"), gateway: undefined, source: undefined };
  const { payload } = addRouteRequest(v6, 0, "add");
  const priority = listAttributes(payload.subarray(12)).find((attribute) => attribute.type === 6);
  assert.equal(Buffer.from(priority?.data ?? []).readUInt32LE(), 1024);
  assert.equal(parseRoute(message(payload))?.metric, 0);
});

test("a removal names the kind, except where this driver did not write the route", () => {
  const kind = (route: RouteToWrite) => removeRouteRequest(route, "remove").payload[7];
  assert.equal(kind(ROUTE), 1);
  assert.equal(kind({ ...ROUTE, kind: "unreachable", link: undefined, gateway: undefined }), 7);
  assert.equal(kind({ ...ROUTE, link: undefined, gateway: undefined }), 0);
});

test("garbage of the kernel's makes no parser throw", () => {
  const parsers = [parseLink, parseAddressMessage, parseRoute, parseRule];
  const payload = fc.tuple(fc.constantFrom(0, 2, 10, 7), fc.uint8Array({ maxLength: 200 }));
  fc.assert(
    fc.property(payload, ([family, rest]) => {
      const bytes = Uint8Array.from([family, ...rest]);
      for (const parse of parsers) parse(message(bytes));
    }),
    { numRuns: 3000 },
  );
});

test("a route with one byte changed is read as some route or none, never beyond its bytes", () => {
  const { payload } = addRouteRequest(ROUTE, 0, "add");
  for (let at = 0; at < payload.length; at++) {
    for (const value of [0, 1, 33, 127, 129, 255]) {
      const changed = Uint8Array.from(payload);
      changed[at] = value;
      const route = parseRoute(message(changed));
      assert.ok(route === undefined || route.destination.length <= 128);
    }
    parseRoute(message(payload.subarray(0, at)));
  }
});

function message(payload: Uint8Array): NetlinkMessage {
  return { type: 24, flags: 0, sequence: 0, portId: 0, payload };
}

function prefix(text: string) {
  return parsePrefix(text) ?? assert.fail(text);
}

function address(text: string) {
  return parseAddress(text) ?? assert.fail(text);
}
