import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { kg } from "./program.test-kit.ts";

describe("kg", () => {
  it("helps with every verb and flag", async () => {
    const { status, stdout } = await kg(["help"]);
    assert.equal(status, 0);
    for (const part of [
      "kg plan -f FILE",
      "prints the version",
      "--mesh-granularity location|full|cross",
      "(default 30s)",
    ]) {
      assert.ok(stdout.includes(part), `${part} is not in\n${stdout}`);
    }
    assert.equal((await kg(["--help"])).stdout, stdout);
    for (const verb of ["plan", "clean-up", "version"]) {
      const { status, stdout } = await kg(["help", verb]);
      assert.ok(status === 0 && stdout.startsWith(`Usage:\n  kg ${verb}`), stdout);
      assert.deepEqual(
        stdout.split("\n").filter((line) => line.length > 100),
        [],
      );
    }
    const plan = await kg(["help", "plan"]);
    assert.match(plan.stdout, /-f, --filename FILE/);
    assert.equal((await kg(["plan", "-h"])).stdout, plan.stdout);
    assert.ok(
      stdout.split("\n").every((line) => line.length <= 100),
      "a line is too long for a terminal",
    );
  });

  it("explains the agent by name, and clean-up with the flags that matter only", async () => {
    const agent = await kg(["help", "agent"]);
    assert.ok(agent.status === 0 && agent.stdout.startsWith("Usage:\n  kg [FLAGS]\n"), agent.stdout);
    assert.match(agent.stdout, /--resync-period DURATION/);
    const cleanUp = (await kg(["help", "clean-up"])).stdout;
    for (const flag of ["--interface", "--kubeconfig", "--cni-path"]) assert.ok(cleanUp.includes(flag), flag);
    for (const flag of ["--listen", "--mesh-granularity", "--resync-period", "--clean-up"])
      assert.ok(!cleanUp.includes(`\n  ${flag}`), flag);
  });

  it("says its version", async () => {
    assert.deepEqual(await kg(["version"]), { status: 0, stdout: "test\n", stderr: "" });
    assert.deepEqual(await kg(["--version"]), { status: 0, stdout: "test\n", stderr: "" });
  });

  it("refuses what it does not know", async () => {
    const table: [string[], RegExp][] = [
      [["plam"], /^kg: cannot plam: there is no such verb \(did you mean plan\?\); `kg help` lists them\n$/],
      [["help", "plam"], /did you mean plan\?/],
      [["--encapsulate=never", "--hostnam=a"], /did you mean --hostname\?/],
      [["--encapsulate=never", "plan"], /a verb stands first \(plan\)/],
      [["run"], /^kg: cannot run: there is no such verb; `kg help` lists them\n$/],
      [["agent"], /^kg: cannot agent: the agent is `kg \[FLAGS\]`, without a verb/],
      [["version", "--all"], /cannot use --all: there is no such flag\n$/],
      [["version", "x"], /cannot tell the version: it takes no argument \(x\)/],
      [["--version", "x"], /cannot tell the version: it takes no argument \(x\)/],
      [["help", "plan", "x"], /cannot help: it takes one verb \(x\)/],
      [
        ["plan", "--kubeconfig=x"],
        /cannot use --kubeconfig: it is a flag of kg and kg clean-up, not of kg plan\n$/,
      ],
      [["--against=x"], /cannot use --against: it is a flag of kg plan, not of kg\n$/],
      [["-f", "x"], /cannot use -f: it is a flag of kg plan, not of kg\n$/],
      [[], /--encapsulate=never/],
      [["--resync-period=0s"], /--resync-period: it must be more than zero/],
    ];
    for (const [args, message] of table) {
      const { status, stderr } = await kg(args);
      assert.match(stderr, message, args.join(" "));
      assert.equal(status, 2, args.join(" "));
    }
  });
});
