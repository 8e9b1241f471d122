import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { SecretKey } from "../wireguard/index.ts";
import { generateKey, loadOrCreateKey, publicKeyOf, readKey } from "./key-file.ts";

const folder = mkdtempSync(join(tmpdir(), "kilomesh-key-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

/** A key file with this content. */
function keyFile(content: string, mode = 0o600): string {
  const path = join(folder, `key${files++}`);
  writeFileSync(path, content, { mode });
  chmodSync(path, mode);
  return path;
}

test("no file: a key is made, folder 0700, file 0600, and it is the same next time", async () => {
  const path = join(folder, "new", "kilo", "key");
  const first = await loadOrCreateKey(path);
  assert.equal(first.created, true);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  const second = await loadOrCreateKey(path);
  assert.equal(second.created, false);
  assert.equal(second.publicKey, first.publicKey);
  assert.ok(second.privateKey.equals(first.privateKey));
});

test("two agents start at once: both have the same key", async () => {
  const path = join(folder, "race", "key");
  const keys = await Promise.all([1, 2, 3, 4].map(() => loadOrCreateKey(path)));
  assert.equal(new Set(keys.map((key) => key.publicKey)).size, 1);
  assert.equal(keys.filter((key) => key.created).length, 1);
});

test("a trailing newline does not matter (K-16)", async () => {
  const key = generateKey();
  const bare = await loadOrCreateKey(keyFile(key.revealText()));
  const newline = await loadOrCreateKey(keyFile(`${key.revealText()}\n`));
  assert.equal(bare.publicKey, newline.publicKey);
});

test("a read-only key file is used as it is (K-80)", async () => {
  const key = generateKey();
  const path = keyFile(key.revealText(), 0o400);
  assert.equal((await loadOrCreateKey(path)).publicKey, publicKeyOf(key));
});

test("a corrupt key file is refused and not replaced (B52)", async () => {
  for (const content of ["", "not a key\n", `${generateKey().revealText()}x`, `${"A".repeat(43)}=`]) {
    const path = keyFile(content);
    await assert.rejects(loadOrCreateKey(path), { code: "KEY_CORRUPT" });
    assert.equal(readFileSync(path, "utf8"), content);
  }
});

test("the error for a corrupt file does not show what is in it", async () => {
  const almost = generateKey().revealText().slice(0, 40);
  await assert.rejects(
    loadOrCreateKey(keyFile(almost)),
    (error: Error) => !`${error.message}${error.stack}`.includes(almost),
  );
});

test("a key that others can read is refused, with the command that closes it", async () => {
  const path = keyFile(generateKey().revealText(), 0o644);
  await assert.rejects(loadOrCreateKey(path), { code: "KEY_OPEN", message: /mode 0644.*chmod 600/ });
});

test("a folder in place of the file is an error, not a new key", async () => {
  chmodSync(folder, 0o700);
  await assert.rejects(readKey(folder), { code: "KEY_IO" });
});

test("the public key of a private key is the one of RFC 7748, section 6.1", () => {
  const bob = SecretKey.fromBytes(
    Buffer.from("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb", "hex"),
  );
  assert.ok(bob !== undefined);
  const expected = Buffer.from("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f", "hex");
  assert.equal(publicKeyOf(bob), expected.toString("base64"));
});

test("a generated key is clamped as wg does it", () => {
  const bytes = generateKey().reveal();
  assert.equal((bytes[0] ?? 1) & 7, 0);
  assert.equal((bytes[31] ?? 0) & 0xc0, 0x40);
});
