import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SET_NAMES } from "../../mesh/index.ts";
import { firewallWith } from "./compliance.test-kit.ts";
import { FirewallError } from "./errors.ts";
import { parseListing, readFirewall } from "./listing.ts";
import { fixedChains } from "./rules.ts";

const nameOf = (role: string): string | undefined => (role === "mesh" ? "kilo0" : undefined);

type Entry = Record<string, Record<string, unknown>>;

/** A listing as nft 1.0.6 prints it, with these elements in keep_source4. */
function listing(elements: readonly unknown[]): Entry[] {
  const table = { family: "inet", name: "kilomesh", handle: 1 };
  const sets = SET_NAMES.flatMap((name) =>
    [4, 6].map((family) => ({
      set: {
        family: "inet",
        name: `${name}${family}`,
        table: "kilomesh",
        type: `ipv${family}_addr`,
        flags: ["interval"],
        ...(name === "keep_source" && family === 4 ? { elem: elements } : {}),
      },
    })),
  );
  const chains = fixedChains({ ipv6: false, guard: { link: "kilo0" } });
  const heads = chains.map(({ name, hook }) => {
    const attributes =
      hook === undefined ? {} : { type: hook.type, hook: hook.name, prio: hook.priority, policy: "accept" };
    return { chain: { family: "inet", table: "kilomesh", name, ...attributes } };
  });
  const rules = chains.flatMap((chain) =>
    chain.rules.map((rule) => ({
      rule: { family: "inet", table: "kilomesh", chain: chain.name, comment: rule.comment, expr: [] },
    })),
  );
  return [{ table }, ...sets, ...heads, ...rules];
}

function read(entries: readonly Entry[]) {
  const json = JSON.stringify({ nftables: [{ metainfo: { version: "1.0.6" } }, ...entries] });
  return readFirewall(parseListing(json), nameOf);
}

test("addresses, prefixes, ranges and elements with a comment are read", () => {
  const elements = [
    "1.2.3.4",
    { prefix: { addr: "10.0.0.0", len: 8 } },
    { range: ["192.168.0.0", "192.168.2.255"] },
    { elem: { val: { prefix: { addr: "172.16.0.0", len: 12 } }, comment: "x" } },
  ];
  const expected = ["1.2.3.4/32", "10.0.0.0/8", "192.168.0.0/23", "192.168.2.0/24", "172.16.0.0/12"];
  assert.deepEqual(read(listing(elements)), firewallWith({ keep_source: expected }, "mesh"));
});

test("a range over the whole family is one prefix", () => {
  assert.deepEqual(
    read(listing([{ range: ["0.0.0.0", "255.255.255.255"] }])),
    firewallWith({ keep_source: ["0.0.0.0/0"] }, "mesh"),
  );
});

test("a fixed part that is not ours is undefined", () => {
  const good = listing([]);
  const change = (kind: string, at: number, fields: Record<string, unknown>): Entry[] => {
    const index = good.flatMap((entry, position) => (kind in entry ? [position] : []))[at] ?? -1;
    return good.map((entry, position) =>
      position === index ? { [kind]: { ...entry[kind], ...fields } } : entry,
    );
  };
  assert.notEqual(read(good), undefined);
  for (let index = 0; index < good.length; index++) {
    assert.equal(
      read(good.filter((_, at) => at !== index)),
      undefined,
      `without ${JSON.stringify(good[index])}`,
    );
  }
  assert.equal(read(change("rule", 0, { comment: "mine" })), undefined);
  assert.equal(read(change("chain", 0, { policy: "drop" })), undefined);
  assert.equal(read(change("chain", 1, { prio: 5 })), undefined);
  assert.equal(read(change("set", 0, { type: "ipv6_addr" })), undefined);
  assert.equal(read(change("set", 0, { flags: ["interval", "timeout"] })), undefined);
  assert.equal(read(change("table", 0, { flags: "dormant" })), undefined);
  assert.equal(
    read([...good, { set: { name: "foreign4", type: "ipv4_addr", flags: ["interval"] } }]),
    undefined,
  );
});

test("fuzz: whatever nft prints is read or refused by a FirewallError", () => {
  const element = fc.oneof(
    fc.string(),
    fc.record({ prefix: fc.anything() }),
    fc.record({ range: fc.array(fc.ipV4()) }),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.array(element, { maxLength: 4 }), (elements) => {
      const seen = read(listing(JSON.parse(JSON.stringify(elements))));
      assert.ok(seen === undefined || seen.sets.keep_source.length <= 32 * 4);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        assert.ok(Array.isArray(parseListing(text)));
      } catch (error) {
        assert.ok(error instanceof FirewallError);
      }
    }),
  );
});
