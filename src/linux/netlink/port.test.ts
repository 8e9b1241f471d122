import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadPort } from "./port.ts";

test("an addon that is missing, broken or another version's is an error that says what to do", () => {
  const folder = mkdtempSync(join(tmpdir(), "netlink-"));
  try {
    const missing = join(folder, "missing.node");
    assert.throws(() => loadPort(missing), { code: "NETLINK_ADDON", message: /missing\.node.*make build/s });

    const broken = join(folder, "broken.node");
    writeFileSync(broken, "not a library");
    assert.throws(() => loadPort(broken), { code: "NETLINK_ADDON", message: /make build/ });

    const old = join(folder, "old.cjs");
    writeFileSync(old, "module.exports = { open() {}, send() {} };");
    assert.throws(() => loadPort(old), { code: "NETLINK_ADDON", message: /another version's.*make build/ });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
