/** The runner of the suites: what must fail, fails. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";

const BEGIN = 'import { test } from "node:test";\n';

describe("scripts/test.mjs", () => {
  it("passes when every test passes", () => {
    assert.deepEqual(run("good", `${BEGIN} test("a", () => {}); test("b", () => {});`), {
      status: 0,
      passed: 2,
      failed: 0,
    });
  });

  it("a failed test fails the suite", () => {
    const failing = `${BEGIN} test("a", () => {}); test("b", () => { throw new Error("wrong"); });`;
    assert.deepEqual(run("bad", failing), { status: 1, passed: 1, failed: 1 });
  });

  it("a skipped test, and one to be done, fail the suite", () => {
    const skipping = `${BEGIN} test("a", () => {}); test("b", { skip: true }, () => {}); test("c", { todo: true }, () => {});`;
    assert.deepEqual(run("skipped", skipping), { status: 1, passed: 1, failed: 2 });
  });

  it("no test at all fails the suite", () => {
    assert.deepEqual(run("empty", "export {};"), { status: 1, passed: 0, failed: 1 });
  });

  it("a process that ends early fails the suite", () => {
    const crashing = `${BEGIN} test("a", () => {}); test("b", () => process.exit(0));`;
    const { status, failed } = run("crash", crashing);
    assert.deepEqual({ status, failed }, { status: 1, failed: 1 });
  });
});

function run(name: string, source: string): { status: number | null; passed: number; failed: number } {
  const folder = `.build/house-fixture-${name}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/fixture.test.ts`, source);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const suite = `house-fixture-${name}`;
  const counts = `.build/${suite}.counts`;
  const { status } = spawnSync(process.execPath, ["scripts/test.mjs", suite, folder], {
    env,
    stdio: "ignore",
  });
  const { passed, failed } = JSON.parse(readFileSync(counts, "utf8"));
  rmSync(folder, { recursive: true });
  for (const product of ["counts", "report", "test.mjs"])
    rmSync(`.build/${suite}.${product}`, { force: true });
  return { status, passed, failed };
}
