/** The shape of rooms and files (design, "Style"). */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, it } from "node:test";
import { CODE, filesBelow, read, rooms, withoutComments } from "./sources.ts";

/** A file holds one idea; more lines than this are two. */
const MOST_LINES = 350;

/** A door says what the room promises; fewer characters than this say nothing. */
const LEAST_PROSE = 150;

/** Written so that this file does not hold them itself. */
const UNFINISHED = new RegExp(
  `\\b(${["TO", "FIX"].join("DO|")}ME|${"X".repeat(3)})\\b|@ts-(ignore|expect-error|nocheck)`,
);
const LEFT_OUT = new RegExp(`\\.(${["sk", "on"].join("ip|")}ly)\\(|\\bas ${"any"}\\b`);

describe("rooms and files", () => {
  it("every room has a door that says in prose what it promises", () => {
    assert.ok(rooms().length >= 3, "no rooms found");
    for (const room of rooms()) {
      const door = filesBelow(`src/${room}`, ["index.ts"]).includes(`src/${room}/index.ts`);
      assert.ok(door, `src/${room} has no index.ts`);
      const prose = /^\/\*\*([\s\S]*?)\*\//.exec(read(`src/${room}/index.ts`))?.[1] ?? "";
      assert.ok(
        prose.length >= LEAST_PROSE,
        `src/${room}/index.ts does not begin with prose on what it promises`,
      );
    }
  });

  it("no file is longer than two ideas", () => {
    const long = code().filter((file) => lines(file) > MOST_LINES);
    assert.deepEqual(
      long.map((file) => `${file}: ${lines(file)} lines`),
      [],
    );
  });

  it("every source file says near its top what it is", () => {
    assert.deepEqual(
      sources().filter((file) => !documented(file)),
      [],
    );
  });

  it("no file is named after nothing", () => {
    const vague = code().filter((file) => /^(utils?|helpers?|common|manager|misc)\./.test(basename(file)));
    assert.deepEqual(vague, []);
  });

  it("no unfinished marks, no tests left out", () => {
    const marked = code().flatMap((file) => {
      const text = read(file);
      const found = UNFINISHED.exec(text)?.[0] ?? LEFT_OUT.exec(withoutComments(text))?.[0];
      return found === undefined ? [] : [`${file}: ${found}`];
    });
    assert.deepEqual(marked, []);
    for (const text of [`// ${"TO"}${"DO"} later`, `${"FIX"}${"ME"}`, `@ts-${"ignore"}`])
      assert.match(text, UNFINISHED);
    for (const text of [`it.sk${"ip"}(`, `test.on${"ly"}(`, `x as ${"any"};`]) assert.match(text, LEFT_OUT);
  });
});

function code(): string[] {
  const files = CODE.flatMap((folder) => filesBelow(folder, [".ts", ".mjs", ".sh", ".c"]));
  assert.ok(files.length >= 20, `only ${files.length} files found: the scan is broken`);
  return files;
}

function sources(): string[] {
  return filesBelow("src", [".ts"]).filter((file) => !file.endsWith(".test.ts"));
}

/** Whether prose stands in the first lines, also after the imports. */
function documented(file: string): boolean {
  return /\/\*\*/.test(read(file).split("\n").slice(0, 30).join("\n"));
}

function lines(file: string): number {
  return read(file).split("\n").length - 1;
}
