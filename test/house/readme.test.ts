/** What README and the examples tell people to type exists. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { filesBelow, read } from "./sources.ts";

describe("words for people", () => {
  it("every make target that is named exists, and every target has a line in make help", () => {
    const targets = [...read("Makefile").matchAll(/^([a-z-]+):/gm)].map((match) => match[1]);
    const explained = [...read("Makefile").matchAll(/^([a-z-]+):.*## \S/gm)].map((match) => match[1]);
    assert.ok(targets.length >= 8, "no targets found");
    assert.deepEqual(targets, explained);
    const named = [...words().matchAll(/(?:^ {4}|`)make ([a-z-]+)/gm)].map((match) => match[1]);
    assert.ok(named.length >= 4, "no commands found");
    assert.deepEqual(
      named.filter((target) => !targets.includes(target)),
      [],
    );
  });

  it("every example and record that is named exists", () => {
    const texts = [words(), ...filesBelow("docs/examples", [".yaml"]).map(read)].join("\n");
    const paths = [...texts.matchAll(/docs\/(?:examples|decisions)\/[\w.-]+\w/g)].map(([path]) => path);
    assert.ok(paths.length >= 5, "no paths found");
    assert.deepEqual(
      paths.filter((path) => !existsSync(path)),
      [],
    );
  });

  it("the house map shows every room", () => {
    const rooms = filesBelow("src", ["index.ts"]).map((file) => /^src\/([^/]+)\/index\.ts$/.exec(file)?.[1]);
    const map = read("README.md");
    for (const room of rooms)
      if (room !== undefined) assert.match(map, new RegExp(`^ {6}${room}/ `, "m"), room);
  });
});

function words(): string {
  return ["README.md", "CONTRIBUTING.md"].map(read).join("\n");
}
