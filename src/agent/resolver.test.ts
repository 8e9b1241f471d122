import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { createResolver } from "./resolver.ts";

describe("resolver", () => {
  let answers: Record<string, string[] | Error> = {};
  let lookups = 0;
  let changed: string[] = [];
  let failed: string[] = [];

  beforeEach(() => {
    mock.timers.enable({ apis: ["Date"] });
    answers = {};
    lookups = 0;
    changed = [];
    failed = [];
  });
  afterEach(() => mock.timers.reset());

  it("K-13: a changed answer is noticed and an unchanged one is silent", async () => {
    const resolver = make();
    answers["home.example"] = ["198.18.1.1"];
    assert.deepEqual(texts(resolver.resolve("home.example")), []);
    await settle();
    assert.deepEqual(changed, ["home.example"]);
    mock.timers.tick(31_000);
    resolver.refresh();
    await settle();
    assert.deepEqual([lookups, changed.length], [2, 1]);
    answers["home.example"] = ["198.18.1.2"];
    mock.timers.tick(31_000);
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
      mock.timers.tick(31_000);
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
    mock.timers.tick(31_000);
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

  function make() {
    return createResolver({
      lookup: async (name) => {
        lookups += 1;
        const answer = answers[name] ?? new Error("NXDOMAIN");
        if (answer instanceof Error) throw answer;
        return answer;
      },
      onChange: (name) => changed.push(name),
      onFailure: (name) => failed.push(name),
    });
  }
});

function texts(addresses: readonly { text: string }[]): string[] {
  return addresses.map((address) => address.text);
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
