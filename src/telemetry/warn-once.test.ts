import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { createLogger } from "./log.ts";
import { createWarnOnce } from "./warn-once.ts";

describe("a problem that lasts", () => {
  let told: string[] = [];
  const log = createLogger({
    now: () => 0,
    write: (line) => {
      const { ts, component, ...rest } = JSON.parse(line);
      told.push(JSON.stringify(rest));
    },
  });
  const badKey = { key: "key/a1", message: "node has a bad key", context: { node: "a1" } };
  const noName = { key: "dns/b1", message: "name is not resolved" };

  beforeEach(() => {
    told = [];
  });

  it("is told when it appears and when it is gone, not in between", () => {
    const problems = createWarnOnce(log);
    for (let pass = 0; pass < 100; pass++) problems.raise(badKey);
    problems.clear("key/a1");
    problems.clear("key/a1");
    problems.raise(badKey);
    assert.deepEqual(told, [
      '{"level":"warn","msg":"node has a bad key","node":"a1"}',
      '{"level":"info","msg":"no longer: node has a bad key","node":"a1"}',
      '{"level":"warn","msg":"node has a bad key","node":"a1"}',
    ]);
  });

  it("is found by what a whole pass has seen", () => {
    const problems = createWarnOnce(log);
    problems.replace([badKey, noName, badKey]);
    problems.replace([noName, badKey]);
    assert.equal(told.length, 2);
    problems.replace([noName]);
    assert.deepEqual(told.slice(2), ['{"level":"info","msg":"no longer: node has a bad key","node":"a1"}']);
    assert.deepEqual(problems.current(), [noName]);
    problems.replace([]);
    assert.deepEqual(problems.current(), []);
  });

  it("tells of the end with what is known last", () => {
    const problems = createWarnOnce(log);
    problems.raise(badKey);
    problems.raise({ ...badKey, context: { node: "a1", since: 5 } });
    problems.clear(badKey.key);
    assert.deepEqual(told.slice(1), [
      '{"level":"info","msg":"no longer: node has a bad key","node":"a1","since":5}',
    ]);
  });

  it("is one of a bounded number; that there are more is told once", () => {
    const problems = createWarnOnce(log, 2);
    const many = ["a", "b", "c", "d"].map((key) => ({ key, message: key }));
    problems.replace(many);
    problems.replace(many);
    assert.deepEqual(told, [
      '{"level":"warn","msg":"a"}',
      '{"level":"warn","msg":"b"}',
      '{"level":"warn","msg":"there are more problems than are told","limit":2}',
    ]);
    problems.replace(many.slice(1));
    assert.deepEqual(
      problems.current().map(({ key }) => key),
      ["b", "c"],
    );
  });
});
