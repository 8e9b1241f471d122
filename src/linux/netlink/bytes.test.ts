import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ByteWriter, listAttributes, readAttributes, readText, readU16, readU32, readU64 } from "./bytes.ts";
import { readMessages, readVerdict, writeMessage } from "./message.ts";

test("attributes are padded to four bytes and read back in order", () => {
  const bytes = new ByteWriter()
    .attributeU8(1, 7)
    .attributeText(2, "kilo0")
    .attributeU16(3, 51820)
    .nested(4, (inner) => inner.attributeU32(1, 0xffff_ffff))
    .attributeU32(2, 5)
    .finish();

  assert.equal(bytes.length % 4, 0);
  const listed = listAttributes(bytes);
  assert.deepEqual(
    listed.map((attribute) => attribute.type),
    [1, 2, 3, 4, 2],
  );
  assert.equal(readText(listed[1]?.data), "kilo0");
  assert.equal(readU16(listed[2]?.data), 51820);
  assert.equal(readU32(readAttributes(listed[3]?.data ?? new Uint8Array()).get(1)), 0xffff_ffff);
  assert.equal(readU32(readAttributes(bytes).get(2)), 5);
});

test("golden bytes: one message with one attribute", () => {
  const writer = new ByteWriter();
  const payload = new ByteWriter().attributeText(3, "lo").finish();
  writeMessage(writer, { type: 18, flags: 1, sequence: 2 }, payload);
  assert.equal(
    Buffer.from(writer.finish()).toString("hex"),
    "18000000120001000200000000000000" + "070003006c6f0000",
  );
});

test("numbers that are cut short read as undefined", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  assert.equal(readU16(bytes), 0x0201);
  assert.equal(readU32(bytes), undefined);
  assert.equal(readU64(bytes), undefined);
  assert.equal(readU32(undefined), undefined);
});

test("garbage never throws, and nothing is read from outside of it", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const before = Uint8Array.from(bytes);
      let total = 0;
      for (const message of readMessages(bytes)) {
        readVerdict(message);
        total += 16 + message.payload.length;
        for (const attribute of listAttributes(message.payload)) {
          assert.ok(attribute.data.length <= message.payload.length);
        }
      }
      assert.ok(total <= bytes.length);
      assert.deepEqual(bytes, before);
    }),
    { numRuns: 2000 },
  );
});

test("a datagram that is cut or has one wrong length yields only whole messages", () => {
  const writer = new ByteWriter();
  for (let i = 1; i <= 3; i++) {
    const payload = new ByteWriter().attributeU32(1, i).finish();
    writeMessage(writer, { type: 24, flags: 0, sequence: i }, payload);
  }
  const whole = Uint8Array.from(writer.finish());
  for (let cut = 0; cut <= whole.length; cut++) {
    assert.equal(readMessages(whole.subarray(0, cut)).length, Math.floor(cut / 24));
  }
  const wrong = Uint8Array.from(whole);
  wrong[24] = 15;
  assert.equal(readMessages(wrong).length, 1);
});
