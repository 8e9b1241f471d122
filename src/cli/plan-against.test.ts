import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { kg, MISTAKES, TWO_PLACES } from "./program.test-kit.ts";

describe("kg plan --against", () => {
  it("nothing changes against itself", async () => {
    const { status, stdout } = await kg(["plan", "-f", MISTAKES, "--hostname=b", "--against", MISTAKES]);
    assert.equal(status, 0);
    assert.match(stdout, /\n\nNothing changes\.\n\nLeft out or wrong, and why \(\+ new, - gone\):\n/);
    assert.doesNotMatch(stdout, /^ {2}[+-] /m);
  });

  it("an endpoint that became a name without address: --against names it although nothing changes", async () => {
    const named = (await readFile(TWO_PLACES, "utf8")).replace("203.0.113.1:51820", "b1.example.com:51820");
    const args = ["plan", "--hostname=a1", "--encapsulate=never", "-f"];
    const { stdout } = await kg([...args, "-", "--against", TWO_PLACES], named);
    assert.match(stdout, /\n\nNothing changes\.\n/);
    assert.match(stdout, /\n {2}\+ b1\.example\.com: where Node b1 is reached \(--resolve /);
    const json = JSON.parse((await kg([...args, "-", "--against", TWO_PLACES, "-o=json"], named)).stdout);
    assert.deepEqual(
      json.unresolved.map((one: { name: string; new: boolean }) => [one.name, one.new]),
      [["b1.example.com", true]],
    );
    const back = await kg([...args, TWO_PLACES, "--against", "-"], named);
    assert.match(back.stdout, /\n {2}- b1\.example\.com: where Node b1 is reached/);
  });

  it("--against says what is newly wrong, what no longer is, and who led before", async () => {
    const stale = (await readFile(TWO_PLACES, "utf8")).replace(
      'last-seen: "1700000000"',
      'last-seen: "1600000000"',
    );
    const args = ["plan", "--hostname=a2", "--encapsulate=never", "-f"];
    const { stdout } = await kg([...args, "-", "--against", TWO_PLACES], stale);
    assert.match(stdout, /^Host a2 leads location:A, alone\n/);
    assert.match(
      stdout,
      /\nIn docs\/examples\/two-places\.yaml it is in location:A: traffic to other locations goes through its\s+leader, a1 /,
    );
    assert.match(stdout, /\n {2}\+ Node a1: last check-in [^+]*\(node-stale\)\n/);
    const json = JSON.parse((await kg([...args, TWO_PLACES, "--against", "-", "-o=json"], stale)).stdout);
    assert.deepEqual(json.problems, []);
    assert.deepEqual(
      json.against.problems.map((one: { reason: string; gone: boolean }) => [one.reason, one.gone]),
      [["node-stale", true]],
    );
  });

  it("yesterday's objects are judged at yesterday's time, also when --now is given", async () => {
    const later = (await readFile(TWO_PLACES, "utf8")).replaceAll("1700000000", "1700086400");
    const args = ["plan", "--hostname=a1", "-f", "-", "--against", TWO_PLACES];
    for (const now of [[], ["--now=1700086410"]]) {
      const { stdout } = await kg([...args, ...now], later);
      assert.match(stdout, /\n\nNothing changes\.\n\n.*:\n {2}\(none\)\n$/);
    }
  });
});
