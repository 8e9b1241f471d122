import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDuration } from "./duration.ts";
import { UsageError } from "./errors.ts";
import {
  choiceFlag,
  numberFlag,
  periodFlag,
  prefixesFlag,
  repeatedFlag,
  switchFlag,
  textFlag,
} from "./flag-kinds.ts";
import { parseFlags } from "./flags.ts";
import { nearestName } from "./nearest.ts";

const TABLE = {
  cni: switchFlag({ name: "cni", initial: true, help: "" }),
  port: numberFlag({ name: "port", value: "PORT", initial: 51820, least: 1, most: 65535, help: "" }),
  services: prefixesFlag({ name: "service-cidr", help: "" }),
  period: periodFlag({ name: "resync-period", initial: "30s", help: "" }),
  files: repeatedFlag({ name: "filename", short: "f", value: "FILE", help: "" }),
  mode: choiceFlag({ name: "mesh-granularity", words: ["location", "full"], initial: "location", help: "" }),
  hostname: textFlag({ name: "hostname", value: "NAME", initial: "", help: "" }),
};

describe("flags", () => {
  it("have defaults", () => {
    const { values, given } = parseFlags(TABLE, []);
    assert.deepEqual(
      { ...values },
      { cni: true, port: 51820, services: [], period: 30_000, files: [], mode: "location", hostname: "" },
    );
    assert.equal(given.size, 0);
  });

  it("switches are --x and --x=false, and take no second argument", () => {
    assert.equal(parseFlags(TABLE, ["--cni=false"]).values.cni, false);
    assert.equal(parseFlags(TABLE, ["--cni=F"]).values.cni, false);
    assert.deepEqual(parseFlags(TABLE, ["--cni", "false"]).positionals, ["false"]);
    refuses(["--cni=no"], /cannot use --cni: it is true or false \(no\)/);
  });

  it("values stand behind a space or an equals sign", () => {
    assert.equal(parseFlags(TABLE, ["--port", "1"]).values.port, 1);
    assert.equal(parseFlags(TABLE, ["--port=65535"]).values.port, 65535);
    for (const bad of ["0", "65536", "-1", "1e3", "0x10", "", "51820 "]) {
      refuses([`--port=${bad}`], /--port: it is a whole number from 1 to 65535/);
    }
    refuses(["--port"], /cannot use --port: it needs a value \(PORT\)/);
  });

  it("a flag that holds one value is refused when given twice, instead of one of them being ignored", () => {
    refuses(["--port=1", "--port=2"], /cannot use --port: it is given more than once/);
    refuses(["--cni=false", "--cni"], /cannot use --cni: it is given more than once/);
    refuses(["--hostname=a", "--hostname=a"], /cannot use --hostname: it is given more than once/);
  });

  it("lists take commas, repetition, or both", () => {
    const args = ["--service-cidr=10.96.0.0/12,fd00::/64", "--service-cidr", "10.0.0.7/8"];
    const { services } = parseFlags(TABLE, args).values;
    assert.deepEqual(
      services.map(({ text }) => text),
      ["10.96.0.0/12", "fd00::/64", "10.0.0.0/8"],
    );
    refuses(["--service-cidr=10.96.0.0"], /--service-cidr: not a prefix like 10.0.0.0\/16 \(10.96.0.0\)/);
    assert.deepEqual(parseFlags(TABLE, ["-f", "a,b", "-fc", "-f=d", "--filename=-"]).values.files, [
      "a,b",
      "c",
      "d",
      "-",
    ]);
  });

  it("K-21: a resync period of zero or less is refused at start", () => {
    assert.equal(parseFlags(TABLE, ["--resync-period=1m30s"]).values.period, 90_000);
    for (const bad of ["0", "0s", "-1s"]) refuses([`--resync-period=${bad}`], /it must be more than zero/);
    for (const bad of ["30", "", "s", "1 s"])
      refuses([`--resync-period=${bad}`], /not a duration like 30s or 1m30s/);
  });

  it("one of a few words", () => {
    assert.equal(parseFlags(TABLE, ["--mesh-granularity=full"]).values.mode, "full");
    refuses(["--mesh-granularity=auto"], /--mesh-granularity: it is one of location, full \(auto\)/);
  });

  it("an unknown flag is refused, with the nearest name", () => {
    refuses(["--hostnam=x"], /cannot use --hostnam: there is no such flag \(did you mean --hostname\?\)/);
    refuses(["--no-cni"], /there is no such flag/);
    refuses(["-port=1"], /there is no such flag/);
    refuses(["--f=1"], /there is no such flag/);
    refuses(["--zzzzzzzzz"], /there is no such flag$/);
  });

  it("what stands behind -- is no flag", () => {
    assert.deepEqual(parseFlags(TABLE, ["a", "--", "--cni=false"]).positionals, ["a", "--cni=false"]);
  });
});

describe("durations", () => {
  it("are read as Go reads them", () => {
    const table: [string, number | undefined][] = [
      ["30s", 30_000],
      ["1m30s", 90_000],
      ["1h1m1s1ms", 3_661_001],
      ["1.5h", 5_400_000],
      [".5s", 500],
      ["250us", 0.25],
      ["250µs", 0.25],
      ["+1s", 1000],
      ["-1m", -60_000],
      ["0", 0],
      ["", undefined],
      ["-", undefined],
      ["1", undefined],
      ["1d", undefined],
      ["1s ", undefined],
      ["1.2.3s", undefined],
      ["1s1", undefined],
    ];
    for (const [text, expected] of table) assert.equal(parseDuration(text), expected, text);
  });
});

describe("nearest name", () => {
  it("is one that few edits make", () => {
    assert.equal(nearestName("encapsulation", ["encapsulate", "interface"]), "encapsulate");
    assert.equal(nearestName("pla", ["plan", "version"]), "plan");
    assert.equal(nearestName("hostanme", ["hostname", "interface"]), "hostname");
    assert.equal(nearestName("pln", ["plan", "version"]), "plan");
  });

  it("is none when another word was meant", () => {
    const verbs = ["plan", "clean-up", "version", "help", "agent"];
    for (const typed of ["frobnicate", "run", "start", "join", "pods", "ps", "show", "", "x"]) {
      assert.equal(nearestName(typed, verbs), undefined, typed);
    }
    assert.equal(nearestName("no-cni", ["cni", "port"]), undefined);
  });
});

function refuses(args: string[], message: RegExp): void {
  assert.throws(
    () => parseFlags(TABLE, args),
    (error) => error instanceof UsageError && message.test(error.message) && error.exitCode === 2,
    args.join(" "),
  );
}
