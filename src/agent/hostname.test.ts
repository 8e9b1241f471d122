import assert from "node:assert/strict";
import { it } from "node:test";
import { hostnameAddresses } from "./hostname.ts";

it("K-25: what the hostname resolves to is a hint; a name that is not known, or not in time, is none", async () => {
  const texts = async (lookup: (name: string) => Promise<readonly string[]>) =>
    (await hostnameAddresses("a1", lookup)).map(({ text }) => text);
  assert.deepEqual(await texts(async () => ["127.0.1.1", "95.216.0.10", "fe80::1%eth0"]), [
    "127.0.1.1",
    "95.216.0.10",
  ]);
  assert.deepEqual(await texts(() => Promise.reject(new Error("ENOTFOUND"))), []);
  const keepAlive = setTimeout(() => {}, 5_000);
  assert.deepEqual(await texts(() => new Promise(() => {})), []);
  clearTimeout(keepAlive);
});
