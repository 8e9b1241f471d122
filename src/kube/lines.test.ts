import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ProtocolError } from "./errors.ts";
import { LineSplitter } from "./lines.ts";

describe("line splitter", () => {
  it("gives the same lines however the bytes are cut, also inside a character", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", minLength: 1 }).filter((line) => !line.includes("\n"))),
        fc.array(fc.nat(12)),
        (lines, cuts) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
          const { seen, splitter } = collect();
          for (const piece of cut(bytes, cuts)) splitter.push(piece);
          assert.deepEqual(seen, lines);
          assert.equal(splitter.unfinishedBytes, 0);
        },
      ),
    );
  });

  it("leaves out empty lines and keeps an unfinished one", () => {
    const { seen, splitter } = collect();
    splitter.push(Buffer.from("\n\na\n\nbc"));
    assert.deepEqual(seen, ["a"]);
    assert.equal(splitter.unfinishedBytes, 2);
  });

  it("a line without end does not fill the memory", () => {
    const { splitter } = collect(10);
    splitter.push(Buffer.from("0123456789"));
    assert.throws(() => splitter.push(Buffer.from("x")), ProtocolError);
  });
});

function collect(longest?: number): { seen: string[]; splitter: LineSplitter } {
  const seen: string[] = [];
  return { seen, splitter: new LineSplitter((line) => seen.push(line.toString("utf8")), longest) };
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (const length of cuts) {
    pieces.push(bytes.subarray(start, start + length));
    start += length;
  }
  return [...pieces, bytes.subarray(start)];
}
