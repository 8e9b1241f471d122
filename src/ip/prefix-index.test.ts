import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { crowdedPrefix } from "./arbitraries.test-kit.ts";
import { comparePrefixes, containsPrefix, makePrefix, type Prefix, parsePrefix } from "./prefix.ts";
import { createPrefixIndex, type PrefixEntry } from "./prefix-index.ts";

describe("PrefixIndex", () => {
  const index = createPrefixIndex([
    entry("10.244.0.0/16", "peer"),
    entry("10.244.1.0/24", "a1"),
    entry("10.244.2.0/24", "a2"),
    entry("10.244.2.0/24", "b1"),
    entry("0.0.0.0/0", "exit"),
    entry("fd00::/8", "v6"),
  ]);

  it("gives the longest match first", () => {
    assert.deepEqual(values(index.covering(prefix("10.244.1.7/32"))), ["a1", "peer", "exit"]);
    assert.deepEqual(values(index.covering(prefix("10.244.9.0/24"))), ["peer", "exit"]);
    assert.deepEqual(values(index.covering(prefix("192.0.2.1/32"))), ["exit"]);
    assert.deepEqual(values(index.covering(prefix("2001:db8::/32"))), []);
  });

  it("names every owner of the same prefix, in the order given", () => {
    assert.deepEqual(values(index.covering(prefix("10.244.2.0/24"))), ["a2", "b1", "peer", "exit"]);
    assert.deepEqual(values(index.within(prefix("10.244.2.0/24"))), ["a2", "b1"]);
  });

  it("gives what lies inside", () => {
    assert.deepEqual(values(index.within(prefix("10.244.0.0/16"))), ["peer", "a1", "a2", "b1"]);
    assert.deepEqual(values(index.within(prefix("::/0"))), ["v6"]);
    assert.deepEqual(values(index.within(prefix("10.244.1.0/25"))), []);
  });

  it("answers nothing when empty", () => {
    const empty = createPrefixIndex<string>([]);
    assert.deepEqual(empty.covering(prefix("10.0.0.0/8")), []);
    assert.deepEqual(empty.within(prefix("0.0.0.0/0")), []);
  });

  it("agrees with a look at every entry", () => {
    fc.assert(
      fc.property(fc.array(crowdedPrefix(), { maxLength: 30 }), crowdedPrefix(), (prefixes, asked) => {
        const entries = prefixes.map((p, i): PrefixEntry<number> => [p, i]);
        const built = createPrefixIndex(entries);
        const sorted = [...entries].sort((a, b) => comparePrefixes(a[0], b[0]));
        assert.deepEqual(
          built.within(asked),
          sorted.filter(([p]) => containsPrefix(asked, p)),
        );
        const covering = entries.filter(([p]) => containsPrefix(p, asked));
        assert.deepEqual(
          built.covering(asked),
          covering.sort((a, b) => b[0].length - a[0].length),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it("finds the owners of 5,000 nested prefixes by few comparisons", () => {
    const base = prefix("10.0.0.0/8");
    const entries = Array.from({ length: 5000 }, (_, i): PrefixEntry<number> => {
      const address = prefix(`10.${i >> 8}.${i & 255}.0/24`).base;
      return [makePrefix(address, 24), i];
    });
    const built = createPrefixIndex<number>([[base, -1], ...entries]);
    const started = performance.now();
    for (const [p, i] of entries) assert.deepEqual(values(built.covering(p)), [i, -1]);
    assert.ok(
      performance.now() - started < 2000,
      "5,000 questions take far less than a scan of each by each",
    );
  });
});

function entry(text: string, value: string): PrefixEntry<string> {
  return [prefix(text), value];
}

function values<Value>(entries: readonly PrefixEntry<Value>[]): Value[] {
  return entries.map(([, value]) => value);
}

function prefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
}
