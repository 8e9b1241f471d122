import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parsePrefix } from "../ip/index.ts";
import { SecretKey } from "../wireguard/index.ts";
import { createLogger, type LogContext, type LoggerOptions, parseLogLevel, type Severity } from "./log.ts";

const NOW = Date.UTC(2026, 11, 1, 12, 41, 54, 7);

describe("a log line", () => {
  it("is one JSON object with time, level, component and message first", () => {
    const lines = logged((log) =>
      log.info("node is ready", { node: "a1", peers: 3, age: 2n, none: undefined }),
    );
    assert.deepEqual(lines, [
      '{"ts":"2026-12-01T12:41:54.007Z","level":"info","component":"kg","msg":"node is ready","node":"a1","peers":3,"age":"2"}\n',
    ]);
  });

  it("keeps its own fields when the context has the same names", () => {
    const line = only((log) => log.warn("x", { msg: "mine", level: 3, ts: 1, component: null }));
    assert.equal(line.msg, "x");
    assert.equal(line.level, "warn");
    assert.deepEqual([line.msg_, line.level_, line.ts_, line.component_], ["mine", 3, 1, null]);
  });

  it("names another component, on the same output", () => {
    const lines = logged((log) => {
      log.component("mesh").info("a");
      log.info("b");
    });
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).component),
      ["mesh", "kg"],
    );
  });

  it("is one line, whatever the message holds", () => {
    const lines = logged((log) => log.info('a\nb"\u2028\u0000', { "k\n": "v\n" }));
    assert.equal(lines.length, 1);
    assert.equal(lines[0]?.match(/\n/g)?.length, 1);
  });
});

describe("levels are Kilo's (kilo.md §1.1)", () => {
  const table: readonly [level: string, written: Severity[]][] = [
    ["all", ["debug", "info", "warn", "error"]],
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
    ["none", []],
  ];
  for (const [text, written] of table) {
    it(text, () => {
      const level = parseLogLevel(text);
      assert.ok(level !== undefined);
      const severities: readonly Severity[] = ["debug", "info", "warn", "error"];
      const lines = logged(
        (log) => {
          for (const severity of severities) log[severity]("x");
          assert.deepEqual(
            severities.filter((severity) => log.writes(severity)),
            written,
          );
        },
        { level },
      );
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).level),
        written,
      );
    });
  }

  it("anything else is none of them", () => {
    for (const text of ["", "INFO", "trace", "warning", "toString"])
      assert.equal(parseLogLevel(text), undefined);
  });
});

describe("errors", () => {
  it("show message, code and the chain of causes", () => {
    const socket = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:6443"), { code: "ECONNREFUSED" });
    const list = Object.assign(new Error("cannot list nodes: no connection", { cause: socket }), {
      code: "list",
    });
    const error = Object.assign(new Error("cannot start: no nodes", { cause: list }), { code: "start" });
    assert.deepEqual(only((log) => log.error("start failed", { error })).error, {
      message: "cannot start: no nodes",
      code: "start",
      causes: ["cannot list nodes: no connection", "connect ECONNREFUSED 10.0.0.1:6443"],
    });
  });

  it("without a code were not foreseen, and show where they come from", () => {
    const shown = JSON.stringify(
      only((log) => log.error("pass failed", { error: new TypeError("x is undefined") })),
    );
    assert.match(shown, /TypeError: x is undefined\\n {4}at /);
  });

  it("with a ring of causes, or causes that are no errors, end", () => {
    const ring = Object.assign(new Error("a"), { code: "a", cause: undefined as unknown });
    ring.cause = new Error("b", { cause: ring });
    assert.deepEqual(only((log) => log.error("x", { ring })).ring, {
      message: "a",
      code: "a",
      causes: ["b"],
    });
    const odd = Object.assign(new Error("a", { cause: { errno: -22 } }), { code: 1 });
    assert.deepEqual(only((log) => log.error("x", { odd })).odd, {
      message: "a",
      code: 1,
      causes: [{ errno: -22 }],
    });
  });

  it("of several tries show each", () => {
    const tries = [1, 2].map((n) => Object.assign(new Error(`try ${n}`), { code: n }));
    const error = Object.assign(new AggregateError(tries, "all failed"), { code: "E" });
    assert.deepEqual(only((log) => log.error("x", { error })).error, {
      message: "all failed",
      code: "E",
      errors: [
        { message: "try 1", code: 1 },
        { message: "try 2", code: 2 },
      ],
    });
  });
});

describe("secrets never reach a line", () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => 200 - i);
  const key = SecretKey.fromBytes(bytes);
  const error = new Error(`cannot set key (${key})`, { cause: { key } });
  const contexts: Record<string, LogContext> = {
    "a key": { key },
    "a key in objects, lists and maps": { a: { b: [key, new Map([["key", key]]), new Set([key])] } },
    "an error about a key": { error },
    "raw bytes": { bytes, list: [bytes.buffer], buffer: Buffer.from(bytes) },
  };
  for (const [what, context] of Object.entries(contexts)) {
    it(what, () => {
      const line = logged((log) => log.info("x", context)).join("");
      const buffer = Buffer.from(bytes);
      const spellings = [
        buffer.toString("base64"),
        buffer.toString("hex"),
        bytes.join(","),
        "200,199",
        "200",
      ];
      for (const spelling of spellings) assert.ok(!line.includes(spelling), line);
    });
  }

  it("but that there is one does", () => {
    assert.equal(only((log) => log.info("x", { key })).key, "(hidden)");
    assert.equal(only((log) => log.info("x", { bytes })).bytes, "(32 bytes)");
  });
});

describe("whatever the context holds", () => {
  it("a prefix, a date, a set, a map, numbers that JSON has not", () => {
    const context = {
      prefix: parsePrefix("10.0.0.0/8"),
      date: new Date(NOW),
      set: new Set([1, 2]),
      map: new Map([["a", 1n]]),
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, 1.5],
      odd: [undefined, null, () => 1, Symbol("s"), true],
    };
    const line = only((log) => log.info("x", context));
    assert.equal(Object(line.prefix).text, "10.0.0.0/8");
    assert.equal(line.date, "2026-12-01T12:41:54.007Z");
    assert.deepEqual(line.set, [1, 2]);
    assert.deepEqual(line.map, { a: "1" });
    assert.deepEqual(line.numbers, ["NaN", "Infinity", 1.5]);
    assert.deepEqual(line.odd, [null, null, "(function)", "(symbol)", true]);
  });

  it("rings, depths, and what throws when it is looked at", () => {
    const ring: Record<string, unknown> = {};
    ring.self = ring;
    const nasty = {
      get value(): never {
        throw new Error("no");
      },
    };
    const line = only((log) =>
      log.info("x", { ring, nasty, bad: { toJSON: () => assert.fail("no") }, deep: [[[[[[[1]]]]]]] }),
    );
    assert.deepEqual(line.ring, { self: "(circular)" });
    assert.equal(line.nasty, "(unprintable)");
    assert.equal(line.bad, "(unprintable)");
    assert.match(JSON.stringify(line.deep), /"\(deep\)"/);
  });

  it("a line is bounded, and says what it leaves out", () => {
    const long = only((log) => log.info("x", { text: "a".repeat(10_000), list: Array(300).fill(1) }));
    assert.match(String(long.text), /^a{4096}… \(5904 more\)$/);
    assert.equal(Array.isArray(long.list) && long.list.length === 101 && long.list[100], "(200 more)");
    const wide = Array.from({ length: 100 }, () =>
      Array.from({ length: 100 }, () => Array(100).fill("abcdef")),
    );
    const fields = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`field${i}`, wide]));
    const [line = ""] = logged((log) => log.info("x", { wide, fields }));
    assert.ok(line.length < 16_384 + 4096, `${line.length} characters`);
    assert.match(line, /more/);
  });

  it("the line is JSON, and logging never throws", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.dictionary(
          fc.string(),
          fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true }),
        ),
        (message, context) => {
          const lines = logged((log) => log.error(message, context));
          assert.equal(lines.length, 1);
          assert.equal(JSON.parse(lines[0] ?? "").level, "error");
        },
      ),
    );
  });

  it("an output or a clock that throws does not reach the caller", () => {
    const write = (): never => assert.fail("full");
    createLogger({ write }).error("x");
    createLogger({ write: () => {}, now: () => Number.NaN }).error("x");
  });
});

function logged(
  use: (log: ReturnType<typeof createLogger>) => void,
  options: LoggerOptions = {},
): readonly string[] {
  const lines: string[] = [];
  use(createLogger({ write: (line) => lines.push(line), now: () => NOW, ...options }));
  return lines;
}

function only(use: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown> {
  const [line, ...more] = logged(use);
  assert.deepEqual(more, []);
  return JSON.parse(line ?? "");
}
