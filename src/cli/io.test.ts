import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { faultText } from "./fault.ts";
import { processIo } from "./io.ts";

describe("output", () => {
  it("a full disk is one clear line and exit code 1, not a dump of the program", async () => {
    const { streams, said } = failing("ENOSPC");
    const io = processIo(streams);
    io.stdout("first");
    await setImmediate();
    io.stdout("second");
    await setImmediate();
    assert.equal(said(), "kg: cannot write to standard output: no space left on device\n");
    assert.equal(streams.exitCode, 1);
  });

  it("a reader that closes the pipe early is no error", async () => {
    const { streams, said } = failing("EPIPE");
    processIo(streams).stdout("text");
    await setImmediate();
    assert.deepEqual({ said: said(), exitCode: streams.exitCode }, { said: "", exitCode: undefined });
  });

  it("standard input that is closed is said in words", async () => {
    const stdin = (async function* closed(): AsyncGenerator<Buffer> {
      yield Buffer.from("a: 1");
      throw failure("EBADF");
    })();
    const io = processIo({ ...failing("EPIPE").streams, stdin });
    await assert.rejects(io.read("-", 100), /^InputError: cannot read standard input: it is closed$/);
  });
});

describe("a fault of the program", () => {
  it("is told with its stack and causes, without source lines and fields", () => {
    const cause = Object.assign(new TypeError("inner"), { token: "SECRET" });
    const text = faultText(new Error("outer", { cause }));
    assert.match(text, /^Error: outer\n {4}at .*\ncaused by TypeError: inner\n {4}at /s);
    assert.doesNotMatch(text, /SECRET/);
    assert.equal(faultText("thrown text"), "thrown text");
  });

  it("ends although its causes turn in a circle", () => {
    const error = new Error("round");
    error.cause = error;
    assert.equal(faultText(error).match(/Error: round/g)?.length, 8);
  });
});

/** Streams whose output fails in this way, and what standard error got. */
function failing(code: string) {
  const said: string[] = [];
  const stdout = new Writable({
    autoDestroy: false,
    write: (_chunk, _encoding, done) => done(failure(code)),
  });
  const stderr = new Writable({
    write: (chunk, _encoding, done) => {
      said.push(String(chunk));
      done();
    },
  });
  const exitCode: number | undefined = undefined;
  return { streams: { stdin: noInput(), stdout, stderr, exitCode }, said: () => said.join("") };
}

async function* noInput(): AsyncGenerator<Buffer> {}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: raw text of the system`), { code });
}
