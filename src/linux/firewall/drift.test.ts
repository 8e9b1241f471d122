import assert from "node:assert/strict";
import { constants } from "node:os";
import { test } from "node:test";
import { ByteWriter } from "../netlink/index.ts";
import { FakePort, kernelMessage } from "../netlink/port-fake.test-kit.ts";
import { DriftWatch } from "./drift.ts";

const NEWRULE = 0x0a06;
const NEWGEN = 0x0a0f;

/** An event of nftables about a table. */
function about(table: string, family = 1): Uint8Array {
  const payload = new ByteWriter().u8(family).u8(0).u16(0).attributeText(1, table).finish();
  return kernelMessage({ type: NEWRULE, payload });
}

/** The end of a transaction. */
function generation(): Uint8Array {
  return kernelMessage({
    type: NEWGEN,
    payload: new ByteWriter().u8(0).u8(0).u16(0).attributeU32(1, 7).finish(),
  });
}

function watched() {
  const port = new FakePort();
  const seen = { told: 0 };
  const watch = new DriftWatch({ onForeign: () => seen.told++, port });
  return { port, seen, watch };
}

test("a transaction of somebody else's is told once, however many events it has", () => {
  const { port, seen } = watched();
  port.emit(about("kilomesh"), about("kilomesh"));
  assert.equal(seen.told, 0, "not before its end");
  port.emit(generation());
  assert.equal(seen.told, 1);
});

test("other tables, and a table of the same name in another family, are not ours", () => {
  const { port, seen } = watched();
  port.emit(about("other"), generation(), about("kilomesh", 2), generation());
  assert.equal(seen.told, 0);
});

test("our own transaction is not told, its events may come before or after its end", async () => {
  const { port, seen, watch } = watched();
  await watch.own(async () => port.emit(about("kilomesh"), generation()));
  await watch.own(async () => {
    setImmediate(() => port.emit(about("kilomesh"), generation()));
  });
  assert.equal(seen.told, 0);
});

test("a second transaction while ours is under way is somebody else's", async () => {
  const { port, seen, watch } = watched();
  await watch.own(async () => port.emit(about("kilomesh"), generation(), about("kilomesh"), generation()));
  assert.equal(seen.told, 1);
});

test("ours failed, but the table changed: told", async () => {
  const { port, seen, watch } = watched();
  const failing = watch.own(async () => {
    port.emit(about("kilomesh"), generation());
    throw new Error("refused");
  });
  await assert.rejects(failing, /refused/);
  assert.equal(seen.told, 1);
});

test("lost events are told: anything may have changed", () => {
  const { port, seen } = watched();
  port.emit(-constants.errno.ENOBUFS);
  assert.equal(seen.told, 1);
});
