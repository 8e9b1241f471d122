import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { crowdedAddresses, crowdedPrefix } from "./arbitraries.test-kit.ts";
import { containsAddress, overlaps, type Prefix, parsePrefix } from "./prefix.ts";
import { mergePrefixes, subtractPrefixes, uniquePrefixes } from "./prefix-set.ts";

describe("mergePrefixes", () => {
  const table: readonly [given: string[], merged: string[]][] = [
    [[], []],
    [["10.0.0.0/24"], ["10.0.0.0/24"]],
    [["10.0.0.0/25", "10.0.0.128/25"], ["10.0.0.0/24"]],
    [
      ["10.0.0.128/25", "10.0.1.0/25"],
      ["10.0.0.128/25", "10.0.1.0/25"],
    ],
    [["10.0.0.0/24", "10.0.0.7/32", "10.0.0.0/16"], ["10.0.0.0/16"]],
    [["10.0.0.0/32", "10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32"], ["10.0.0.0/30"]],
    [
      ["10.0.0.1/32", "10.0.0.2/32"],
      ["10.0.0.1/32", "10.0.0.2/32"],
    ],
    [["0.0.0.0/1", "128.0.0.0/1"], ["0.0.0.0/0"]],
    [["::/1", "8000::/1"], ["::/0"]],
    [
      ["fd00::/64", "10.0.0.0/8", "fd00:0:0:1::/64"],
      ["10.0.0.0/8", "fd00::/63"],
    ],
    [
      ["0.0.0.0/0", "::/0"],
      ["0.0.0.0/0", "::/0"],
    ],
  ];
  for (const [given, merged] of table) {
    it(`makes [${merged}] of [${given}]`, () => assert.deepEqual(texts(mergePrefixes(parse(given))), merged));
  }

  it("covers exactly the same addresses, by the shortest list, in order", () => {
    const everyAddress = crowdedAddresses();
    fc.assert(
      fc.property(fc.array(crowdedPrefix(), { maxLength: 24 }), (prefixes) => {
        const merged = mergePrefixes(prefixes);
        const before = everyAddress.map((address) => prefixes.some((p) => containsAddress(p, address)));
        const after = everyAddress.map((address) => merged.some((p) => containsAddress(p, address)));
        assert.deepEqual(after, before);
        assert.equal(merged.length, fewestPrefixes(before.slice(0, 16)) + fewestPrefixes(before.slice(16)));
        for (const [i, p] of merged.entries()) {
          assert.ok(merged.every((other, j) => i === j || !overlaps(p, other)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same list for any order, and itself for its own result", () => {
    fc.assert(
      fc.property(
        fc.array(crowdedPrefix(), { maxLength: 24 }).chain((list) =>
          fc.tuple(
            fc.constant(list),
            fc.shuffledSubarray(list, {
              minLength: list.length,
            }),
          ),
        ),
        ([prefixes, shuffled]) => {
          const merged = texts(mergePrefixes(prefixes));
          assert.deepEqual(texts(mergePrefixes(shuffled)), merged);
          assert.deepEqual(texts(mergePrefixes(mergePrefixes(prefixes))), merged);
        },
      ),
    );
  });
});

describe("subtractPrefixes", () => {
  it("leaves exactly the addresses outside the holes, in as few prefixes as a merge gives", () => {
    const everyAddress = crowdedAddresses();
    const list = fc.array(crowdedPrefix(), { maxLength: 12 });
    fc.assert(
      fc.property(list, list, (prefixes, holes) => {
        const left = subtractPrefixes(prefixes, holes);
        for (const address of everyAddress) {
          const isIn = (some: readonly Prefix[]) => some.some((p) => containsAddress(p, address));
          assert.equal(isIn(left), isIn(prefixes) && !isIn(holes));
        }
        assert.deepEqual(texts(mergePrefixes(left)), texts(left));
      }),
      { numRuns: 300 },
    );
  });

  it("takes one address out of a network", () => {
    assert.deepEqual(texts(subtractPrefixes(parse(["10.0.0.0/30"]), parse(["10.0.0.1/32"]))), [
      "10.0.0.0/32",
      "10.0.0.2/31",
    ]);
  });
});

describe("uniquePrefixes", () => {
  it("drops repeats, keeps overlaps and the order of first appearance", () => {
    const given = parse(["10.5.0.1/24", "10.0.0.0/8", "10.5.0.9/24", "10.5.0.0/32", "10.0.0.0/8"]);
    assert.deepEqual(texts(uniquePrefixes(given)), ["10.5.0.0/24", "10.0.0.0/8", "10.5.0.0/32"]);
  });
});

/** The fewest aligned blocks that cover exactly the marked places: a block that is wholly marked is one, else its halves. */
function fewestPrefixes(marked: readonly boolean[]): number {
  if (marked.every((mark) => mark)) return 1;
  if (marked.length === 1) return 0;
  const half = marked.length / 2;
  return fewestPrefixes(marked.slice(0, half)) + fewestPrefixes(marked.slice(half));
}

function parse(list: readonly string[]): Prefix[] {
  return list.map((text) => {
    const prefix = parsePrefix(text);
    assert.ok(prefix !== undefined, text);
    return prefix;
  });
}

function texts(prefixes: readonly Prefix[]): string[] {
  return prefixes.map((prefix) => prefix.text);
}
