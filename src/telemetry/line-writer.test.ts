import assert from "node:assert/strict";
import { it } from "node:test";
import { createLineWriter } from "./line-writer.ts";

it("a line goes out whole, in as many writes as the output wants", () => {
  const output = new Output(() => 3);
  output.write("first line\n");
  output.write("zweite Zeile: ä\n");
  assert.equal(output.text, "first line\nzweite Zeile: ä\n");
});

it("an output that is full for a moment gets the line all the same", () => {
  let calls = 0;
  const output = new Output(() => {
    calls += 1;
    return calls % 3 === 0 ? 5 : full();
  });
  output.write("a line of some length\n");
  assert.equal(output.text, "a line of some length\n");
});

it("an output that stays full loses lines, does not throw or wait, and is told how many", () => {
  let room = 0;
  const output = new Output((wanted) => (room > 0 ? wanted : full()));
  output.write("one\n");
  output.write("two\n");
  assert.equal(output.text, "");
  room = 1;
  output.write("three\n");
  output.write("four\n");
  const [note, ...rest] = output.text.split("\n");
  assert.deepEqual(rest, ["three", "four", ""]);
  const { msg, lines, level } = JSON.parse(note ?? "");
  assert.deepEqual([msg, lines, level], ["log lines were lost", 2, "warn"]);
});

it("a line that was cut short does not spoil the next one", () => {
  let taken = 0;
  const output = new Output((wanted) => {
    if (taken >= 4) return full();
    taken += 4;
    return Math.min(4, wanted);
  });
  output.write("one line\n");
  taken = Number.NEGATIVE_INFINITY;
  output.write("next\n");
  assert.equal(output.text.split("\n")[0], "one ");
  assert.equal(output.text.split("\n").at(-2), "next");
});

it("an output that is gone, or takes nothing, ends the try", () => {
  new Output(() => {
    throw Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  }).write("x\n");
  new Output(() => 0).write("x\n");
});

class Output {
  text = "";
  readonly #bytes: number[] = [];
  readonly write: (line: string) => void;

  /** `take` tells how many bytes of those offered are taken now. */
  constructor(take: (wanted: number) => number) {
    this.write = createLineWriter((bytes, offset) => {
      const count = Math.min(take(bytes.length - offset), bytes.length - offset);
      this.#bytes.push(...bytes.subarray(offset, offset + count));
      this.text = Buffer.from(this.#bytes).toString();
      return count;
    });
  }
}

function full(): never {
  throw Object.assign(new Error("write EAGAIN"), { code: "EAGAIN" });
}
