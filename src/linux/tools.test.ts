import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findTool, MissingToolError, requireTools } from "./tools.ts";

const folder = mkdtempSync(join(tmpdir(), "kilomesh-tools-"));
after(() => rmSync(folder, { recursive: true }));

test("a program is found in the search path, first folder first", () => {
  const file = join(folder, "nft");
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  assert.equal(findTool("nft", `/nonexistent:${folder}:/usr/sbin`), file);
  assert.deepEqual(requireTools(["nft"], folder), { nft: file });
});

test("a file that cannot be executed and a folder of that name are no programs", () => {
  const file = join(folder, "wg");
  writeFileSync(file, "", { mode: 0o644 });
  assert.notEqual(findTool("wg", folder), file);
});

test("all missing programs are named at once, with the packages to install", () => {
  const error = new MissingToolError(["nft", "wireguard-go"]);
  assert.equal(
    error.message,
    "cannot find nft, wireguard-go: not installed; on Debian or Ubuntu: apt-get install nftables wireguard-go",
  );
  assert.equal(error.code, "TOOL_MISSING");
});
