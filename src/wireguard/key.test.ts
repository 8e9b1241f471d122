import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { format, inspect } from "node:util";
import { serialize } from "node:v8";
import fc from "fast-check";
import { parsePublicKey, publicKeyFromBytes, publicKeyToBytes, SecretKey, someKey } from "./key.ts";

const BYTES = Uint8Array.from({ length: 32 }, (_, i) => 200 - i);
const secretKey = parsed(Buffer.from(BYTES).toString("base64"));

describe("a secret key cannot be printed", () => {
  const holder = { privateKey: secretKey, list: [secretKey], map: new Map([["key", secretKey]]) };
  const printed: Record<string, () => string> = {
    "String()": () => String(secretKey),
    template: () => `${secretKey}`,
    concatenation: () => `${"key: "}${secretKey.toString()}`,
    "Array.join": () => [secretKey, secretKey].join(),
    "toLocaleString()": () => secretKey.toLocaleString(),
    JSON: () => JSON.stringify(holder),
    "JSON, indented": () => JSON.stringify({ deep: { deeper: [holder] } }, null, 2),
    "util.inspect": () => inspect(secretKey),
    "util.inspect of an object": () => inspect(holder, { depth: 9, showHidden: true, getters: true }),
    "util.inspect without custom forms": () =>
      inspect(holder, { depth: 9, showHidden: true, customInspect: false }),
    "util.format": () => format("%s %o %O %j", secretKey, secretKey, holder, holder),
    "Error message": () => new Error(`cannot use key: not clamped (${secretKey})`).message,
    "Error with cause": () => inspect(new Error("cannot use key", { cause: holder })),
    "error stack": () => new TypeError(`${secretKey}`).stack ?? "",
    "own properties": () => JSON.stringify(Object.entries(secretKey)) + Reflect.ownKeys(secretKey).join(),
    spread: () => inspect({ ...secretKey }),
    "structured clone": () => inspect(structuredClone({ ...holder, map: undefined }), { showHidden: true }),
    "v8 serialization": () => serialize({ privateKey: secretKey }).toString("latin1"),
    "assertion message": () => thrownBy(() => assert.deepEqual({ key: secretKey }, { key: 1 })),
  };
  for (const [way, print] of Object.entries(printed)) {
    it(way, () => {
      const text = print();
      for (const spelling of spellings(BYTES))
        assert.ok(!text.includes(spelling), `${way} shows ${spelling}`);
    });
  }

  it("the test would notice a key that is printed", () => {
    const leaks = [secretKey.revealText(), inspect(secretKey.reveal(), { maxArrayLength: null })];
    for (const leak of leaks) assert.ok(spellings(BYTES).some((spelling) => leak.includes(spelling)));
  });

  it("but says that something is there", () => {
    assert.equal(`${secretKey}`, "(hidden)");
    assert.equal(JSON.stringify({ secretKey }), '{"secretKey":"(hidden)"}');
    assert.equal(inspect({ secretKey }), "{ secretKey: (hidden) }");
  });
});

describe("secret keys", () => {
  it("are parsed with white space around, as in a key file (K-16)", () => {
    const text = secretKey.revealText();
    for (const spelling of [text, `${text}\n`, `  ${text}\r\n`])
      assert.ok(parsed(spelling).equals(secretKey));
  });

  it("are refused when they are not 32 bytes of canonical base64", () => {
    for (const text of BAD_KEYS) assert.equal(SecretKey.parse(text), undefined, text);
    for (const length of [0, 31, 33]) assert.equal(SecretKey.fromBytes(new Uint8Array(length)), undefined);
  });

  it("share no memory with what they were made of or gave away", () => {
    const source = Uint8Array.from(BYTES);
    const made = SecretKey.fromBytes(source);
    source.fill(0);
    made?.reveal().fill(0);
    assert.equal(made?.equals(secretKey), true);
  });

  it("are equal when their bytes are", () => {
    const other = Uint8Array.from(BYTES);
    other[31] = 1;
    assert.equal(secretKey.equals(undefined), false);
    assert.equal(secretKey.equals(SecretKey.fromBytes(other)), false);
    assert.equal(secretKey.equals(SecretKey.fromBytes(BYTES)), true);
  });

  it("are clamped as RFC 7748 section 5 says, once and for all", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const clamped = SecretKey.fromBytes(bytes)?.clamped();
        const after = clamped?.reveal() ?? new Uint8Array();
        assert.equal((after[0] ?? 255) & 7, 0);
        assert.equal((after[31] ?? 255) & 192, 64);
        assert.deepEqual(after.subarray(1, 31), bytes.subarray(1, 31));
        assert.equal(clamped?.clamped().equals(clamped), true);
      }),
    );
  });

  it("of zeros are none", () => {
    const zero = SecretKey.fromBytes(new Uint8Array(32));
    assert.equal(zero?.isZero(), true);
    assert.equal(someKey(zero), undefined);
    assert.equal(someKey(undefined), undefined);
    assert.equal(someKey(secretKey), secretKey);
  });
});

const BAD_KEYS = [
  "",
  "(hidden)",
  "A".repeat(44),
  `${"A".repeat(42)}==`,
  `${"A".repeat(41)}B=`,
  `${"A".repeat(42)}B=`,
  `${"A".repeat(44)}=`,
  `${"-".repeat(42)}A=`,
  `${"A".repeat(20)} ${"A".repeat(21)}A=`,
  "a".repeat(64),
];

describe("public keys", () => {
  it("come back from their bytes and text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const publicKey = publicKeyFromBytes(bytes);
        if (bytes.every((byte) => byte === 0)) return assert.equal(publicKey, undefined);
        assert.ok(publicKey !== undefined);
        assert.equal(publicKey, Buffer.from(bytes).toString("base64"));
        assert.equal(parsePublicKey(publicKey), publicKey);
        assert.deepEqual(publicKeyToBytes(publicKey), bytes);
      }),
    );
  });

  it("are refused when not canonical, or all zero", () => {
    for (const text of [...BAD_KEYS, `${"A".repeat(43)}=`, `${secretKey.revealText()}\n`]) {
      assert.equal(parsePublicKey(text), undefined, text);
    }
    assert.equal(publicKeyFromBytes(new Uint8Array(32)), undefined);
    assert.equal(publicKeyFromBytes(new Uint8Array(31).fill(1)), undefined);
  });
});

/** The forms in which the bytes could show up, and parts of them. */
function spellings(bytes: Uint8Array): string[] {
  const buffer = Buffer.from(bytes);
  return [
    buffer.toString("base64").slice(0, 8),
    buffer.toString("base64url").slice(0, 8),
    buffer.toString("hex").slice(0, 8),
    buffer.toString("latin1").slice(0, 4),
    [...bytes.subarray(0, 3)].join(","),
    [...bytes.subarray(0, 3)].join(", "),
  ];
}

function parsed(text: string): SecretKey {
  const secret = SecretKey.parse(text);
  assert.ok(secret !== undefined);
  return secret;
}

function thrownBy(run: () => void): string {
  try {
    run();
  } catch (error) {
    return inspect(error, { depth: 9 });
  }
  return assert.fail("nothing was thrown");
}
