import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { createResolver } from "./resolver.ts";

describe("resolver", () => {
  let answers: Record<string, string[] | Error> = {};
  let lookups = 0;
  let changed: string[] = [];
  let failed: string[] = [];
  let now = 0;
  let slow: () => Promise<void> = async () => {};

  beforeEach(() => {
    now = 1_000;
    slow = async () => {};
    answers = {};
    lookups = 0;
    changed = [];
    failed = [];
  });

  it("K-13: a changed answer is noticed and an unchanged one is silent", async () => {
    const resolver = make();
    answers["home.example"] = ["198.18.1.1"];
    assert.deepEqual(texts(resolver.resolve("home.example")), []);
    await settle();
    assert.deepEqual(changed, ["home.example"]);
    now += 61_000;
    resolver.refresh();
    await settle();
    assert.deepEqual([lookups, changed.length], [2, 1]);
    answers["home.example"] = ["198.18.1.2"];
    now += 31_000;
    resolver.refresh();
    await settle();
    now += 2_000;
    resolver.refresh();
    await settle();
    assert.deepEqual(texts(resolver.resolve("home.example")), ["198.18.1.2"]);
    assert.equal(changed.length, 2);
  });

  it("the last good answer counts while DNS is dead, and the failure is told once", async () => {
    const resolver = make();
    answers["a.example"] = ["192.0.2.1"];
    resolver.resolve("a.example");
    await settle();
    answers["a.example"] = new Error("SERVFAIL");
    for (let i = 0; i < 5; i++) {
      now += 61_000;
      resolver.refresh();
      resolver.resolve("a.example");
      await settle();
    }
    assert.deepEqual(texts(resolver.resolve("a.example")), ["192.0.2.1"]);
    assert.deepEqual(failed, ["a.example"]);
  });

  it("a name that answers in another order each time does not move the endpoint", async () => {
    const resolver = make();
    answers["many.example"] = ["192.0.2.9", "192.0.2.1"];
    resolver.resolve("many.example");
    await settle();
    answers["many.example"] = ["192.0.2.0", "192.0.2.9", "192.0.2.1"];
    now += 61_000;
    resolver.refresh();
    await settle();
    assert.equal(resolver.resolve("many.example")[0]?.text, "192.0.2.1");
    assert.equal(changed.length, 1);
  });

  it("asks at most once at a time, and not again before the answer is due", async () => {
    const resolver = make();
    answers["a.example"] = ["192.0.2.1"];
    for (let i = 0; i < 10; i++) resolver.resolve("a.example");
    await settle();
    for (let i = 0; i < 10; i++) resolver.resolve("a.example");
    await settle();
    assert.equal(lookups, 1);
  });

  it("a name that gives another one of its addresses each time moves nothing", async () => {
    const resolver = make();
    answers["round.example"] = ["192.0.2.1"];
    resolver.resolve("round.example");
    await settle();
    for (let round = 0; round < 10; round++) {
      answers["round.example"] = [`192.0.2.${(round + 1) % 2 === 0 ? 1 : 2}`];
      now += 31_000;
      resolver.refresh();
      await settle();
      answers["round.example"] = ["192.0.2.1"];
      now += 2_000;
      resolver.refresh();
      await settle();
    }
    assert.deepEqual(changed, ["round.example"]);
    assert.equal(resolver.resolve("round.example")[0]?.text, "192.0.2.1");
  });

  it("a hundred dead names are asked for one at a time, ever more seldom", async () => {
    const resolver = make();
    let running = 0;
    let most = 0;
    slow = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    for (let n = 0; n < 100; n++) resolver.resolve(`dead-${n}.example`);
    for (let n = 0; n < 400; n++) await settle();
    assert.equal(most, 1);
    assert.equal(lookups, 100);
    for (let second = 0; second < 600; second++) {
      now += 1_000;
      resolver.refresh();
      for (let n = 0; n < 4; n++) await settle();
    }
    assert.ok(lookups < 100 * 20, `${lookups} look-ups in ten minutes`);
    assert.equal(failed.length, 100);
  });

  function make() {
    return createResolver({
      lookup: async (name) => {
        lookups += 1;
        await slow();
        const answer = answers[name] ?? new Error("NXDOMAIN");
        if (answer instanceof Error) throw answer;
        return answer;
      },
      onChange: (name) => changed.push(name),
      onFailure: (name) => failed.push(name),
      now: () => now,
      random: () => 0.5,
    });
  }
});

function texts(addresses: readonly { text: string }[]): string[] {
  return addresses.map((address) => address.text);
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
