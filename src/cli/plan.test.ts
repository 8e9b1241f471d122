import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { main } from "./index.ts";
import { processIo } from "./io.ts";

const TWO_PLACES = "docs/examples/two-places.yaml";
const BEHIND_NAT = "docs/examples/behind-nat.yaml";
const MISTAKES = "docs/examples/mistakes.yaml";

/** Each prints exactly the file of its name in test/golden. Set UPDATE_GOLDEN to write them anew, and read the difference. */
const GOLDEN: Readonly<Record<string, readonly string[]>> = {
  "two-places.a1.txt": ["-f", TWO_PLACES, "--encapsulate=never", "--hostname=a1"],
  "two-places.a2.txt": ["-f", TWO_PLACES, "--encapsulate=never", "--hostname=a2"],
  "two-places.a1.json": ["-f", TWO_PLACES, "--encapsulate=never", "--hostname=a1", "-o", "json"],
  "two-places.a2.always.txt": ["-f", TWO_PLACES, "--hostname=a2"],
  "two-places.b1.cross.txt": [
    "-f",
    TWO_PLACES,
    "--mesh-granularity=cross",
    "--encapsulate=never",
    "--hostname=b1",
  ],
  "behind-nat.a1.txt": [
    "-f",
    BEHIND_NAT,
    "--encapsulate=never",
    "--hostname=a1",
    "--service-cidr=10.96.0.0/12",
  ],
  "behind-nat.lap.txt": ["-f", BEHIND_NAT, "--encapsulate=never", "--peer=lap"],
  "behind-nat.lap.json": ["-f", BEHIND_NAT, "--encapsulate=never", "--peer=lap", "-o=json"],
  "behind-nat.against.txt": [
    "-f",
    BEHIND_NAT,
    "--encapsulate=never",
    "--hostname=a1",
    "--against",
    TWO_PLACES,
  ],
  "behind-nat.against.json": ["-f", BEHIND_NAT, "--hostname=a1", "--against", TWO_PLACES, "-o=json"],
  "mistakes.a.txt": ["-f", MISTAKES, "--encapsulate=never", "--hostname=a"],
  "mistakes.c.txt": ["-f", MISTAKES, "--hostname=c"],
  "mistakes.b.full.txt": ["-f", MISTAKES, "--mesh-granularity=full", "--hostname=b"],
};

const REAL = processIo();

describe("kg plan", () => {
  for (const [file, args] of Object.entries(GOLDEN)) {
    it(`prints ${file}`, async () => {
      const { status, stdout, stderr } = await kg(["plan", ...args]);
      assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
      const path = `test/golden/${file}`;
      if (process.env.UPDATE_GOLDEN !== undefined) await writeFile(path, stdout);
      assert.equal(stdout, await readFile(path, "utf8"));
    });
  }

  it("the order of objects does not matter", async () => {
    const documents = (await readFile(MISTAKES, "utf8")).split("\n---\n");
    const [comment = "", ...objects] = documents;
    const turned = [comment, ...objects.reverse()].join("\n---\n");
    const forward = await kg(["plan", "-f", MISTAKES, "--hostname=a"]);
    const backward = await kg(["plan", "-f", "-", "--hostname=a"], turned);
    assert.equal(forward.status, 0);
    assert.equal(backward.stdout, forward.stdout);
  });

  it("nothing changes against itself", async () => {
    const { status, stdout } = await kg(["plan", "-f", MISTAKES, "--hostname=b", "--against", MISTAKES]);
    assert.equal(status, 0);
    assert.match(stdout, /\n\nNothing changes\.\n$/);
  });

  it("says which decisions hang on a name, and --resolve stands for DNS", async () => {
    const named = (await readFile(TWO_PLACES, "utf8")).replace("203.0.113.1:51820", "b1.example.com:51820");
    const args = ["plan", "-f", "-", "--hostname=a1"];
    const without = await kg(args, named);
    assert.match(
      without.stdout,
      /\n {2}b1\.example\.com: where Node b1 is reached \(--resolve b1\.example\.com=IP\)\n/,
    );
    assert.doesNotMatch(without.stdout, /Endpoint =/);
    const resolved = await kg([...args, "--resolve=b1.example.com=203.0.113.1"], named);
    assert.match(resolved.stdout, /Endpoint = 203\.0\.113\.1:51820/);
    assert.doesNotMatch(resolved.stdout, /b1\.example\.com/);
  });

  it("time is the newest last-seen, or --now", async () => {
    const args = ["plan", "-f", TWO_PLACES, "--hostname=a1"];
    assert.doesNotMatch((await kg(args)).stdout, /node-stale/);
    const later = await kg([...args, "--now=1700000060"]);
    assert.match(later.stdout, /Node b1: .* \(node-stale\)/);
  });

  it("objects of other kinds are counted, not used", async () => {
    const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\n";
    const { stdout } = await kg(["plan", "-f", TWO_PLACES, "-f", "-", "--hostname=a1"], pod);
    assert.match(stdout, /\n {2}1 object of kind Pod\n/);
  });

  it("preshared keys of the input are not printed", async () => {
    const psk = "CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=";
    const text = `${await readFile(BEHIND_NAT, "utf8")}  presharedKey: ${psk}\n`;
    for (const more of [
      ["--hostname=a1"],
      ["--hostname=a1", "-o=json"],
      ["--peer=lap"],
      ["--peer=lap", "-o=json"],
    ]) {
      const { status, stdout } = await kg(["plan", "-f", "-", ...more], text);
      assert.equal(status, 0);
      assert.ok(stdout.includes("(hidden)") && !stdout.includes(psk), stdout);
    }
  });

  it("what cannot be planned is refused with one line", async () => {
    const table: [string[], number, RegExp][] = [
      [
        ["-f", TWO_PLACES, "--hostname=z9"],
        1,
        /^kg: cannot plan z9: no Node of this name in docs.*\(there is a1, a2, b1\)\n$/,
      ],
      [
        ["-f", TWO_PLACES, "--peer=lap"],
        1,
        /^kg: cannot plan lap: no Peer of this name in .*\(there is no Peer at all\)\n$/,
      ],
      [
        ["-f", BEHIND_NAT, "--hostname=a1", "--against", MISTAKES],
        1,
        /no Node of this name in docs\/examples\/mistakes.yaml/,
      ],
      [["-f", "no/such.yaml", "--hostname=a1"], 1, /^kg: cannot read no\/such.yaml: no such file\n$/],
      [["-f", "docs", "--hostname=a1"], 1, /^kg: cannot read docs: it is a folder\n$/],
      [["-f", "README.md", "--hostname=a1"], 1, /^kg: cannot (read|use) README.md/],
      [["--hostname=a1"], 2, /^kg: cannot plan: give the objects: -f FILE/],
      [["-f", TWO_PLACES], 2, /^kg: cannot plan: give --hostname NAME or --peer NAME\n$/],
      [["-f", TWO_PLACES, "--hostname=a1", "--peer=lap"], 2, /not both/],
      [["-f", TWO_PLACES, "--peer=lap", "--against=x"], 2, /--against goes with --hostname only/],
      [["-f", "-", "--hostname=a1", "--against=-"], 2, /standard input can be read only once/],
      [[TWO_PLACES, "--hostname=a1"], 2, /files stand behind -f \(docs\/examples\/two-places.yaml\)/],
      [["-f", TWO_PLACES, "--hostname=a1", "--resolve=x"], 2, /--resolve/],
      [["-f", TWO_PLACES, "--hostname=a1", "--now=soon"], 2, /--now/],
      [["-f", TWO_PLACES, "--hostname=a1", "--encapsulat=never"], 2, /did you mean --encapsulate\?/],
    ];
    for (const [args, expected, message] of table) {
      const { status, stdout, stderr } = await kg(["plan", ...args]);
      assert.match(stderr, message, args.join(" "));
      assert.deepEqual({ status, stdout }, { status: expected, stdout: "" }, args.join(" "));
    }
  });
});

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

/** Runs the program with this standard input; files are the real ones. */
async function kg(args: readonly string[], standardInput = "") {
  const output = { stdout: "", stderr: "" };
  const status = await main(args, {
    ...REAL,
    stdout: (text) => {
      output.stdout += text;
    },
    stderr: (text) => {
      output.stderr += text;
    },
    read: async (path, limit) => (path === "-" ? standardInput : REAL.read(path, limit)),
  });
  return { status, ...output };
}
