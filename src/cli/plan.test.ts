import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { BEHIND_NAT, kg, MISTAKES, TWO_PLACES } from "./program.test-kit.ts";

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
  "behind-nat.lap.conf": ["-f", BEHIND_NAT, "--peer=lap", "-o=conf"],
  "mistakes.a.txt": ["-f", MISTAKES, "--encapsulate=never", "--hostname=a"],
  "mistakes.c.txt": ["-f", MISTAKES, "--hostname=c"],
  "mistakes.b.full.txt": ["-f", MISTAKES, "--mesh-granularity=full", "--hostname=b"],
};

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

  it("what the agent would refuse at start is said with the plan", async () => {
    const said = async (...flags: string[]) => {
      const args = ["plan", "-f", TWO_PLACES, "--hostname=a1", ...flags];
      const line = /^This agent does not serve .*$/m.exec((await kg(args)).stdout)?.[0];
      const { notServed } = JSON.parse((await kg([...args, "-o=json"])).stdout);
      assert.equal(notServed?.toLowerCase() ?? undefined, line?.toLowerCase());
      return line;
    };
    assert.equal(
      await said(),
      "This agent does not serve --encapsulate=always yet: start it with --encapsulate=never",
    );
    assert.match(
      (await said("--compatibility=flannel", "--encapsulate=never")) ?? "",
      /start it without --compatibility$/,
    );
    assert.equal(await said("--encapsulate=never"), undefined);
  });

  it("a host or Peer that takes no part is exit code 3, and everything is printed all the same", async () => {
    const text = await readFile(BEHIND_NAT, "utf8");
    const keyless = text.replace(/kilo.squat.ai\/key: "AQEB.*/, 'kilo.squat.ai/key: ""');
    for (const output of ["text", "json"]) {
      const { status, stdout, stderr } = await kg(
        ["plan", "-f", "-", "--hostname=a1", `-o=${output}`],
        keyless,
      );
      assert.equal(status, 3);
      assert.ok(stdout.includes("unreachable"), stdout);
      assert.match(stderr, /^kg: Host a1 takes no part: no usable key .*\n$/);
    }
    const { stdout } = await kg(["plan", "-f", "-", "--hostname=a1"], keyless);
    assert.equal(
      stdout.match(/no\s+usable\s+key/g)?.length,
      2,
      `headline and Node, not three times\n${stdout}`,
    );
    const peer = await kg(["plan", "-f", "-", "--peer=lap"], text.replace("10.5.0.1/32", "10.5.0/32"));
    assert.equal(peer.status, 3);
    assert.match(peer.stderr, /^kg: Peer lap takes no part/);
    assert.match(peer.stdout, /^Peer lap takes no part, nobody will answer it;/);
  });

  it("text fits 100 columns, but for configuration that has to stay whole", async () => {
    for (const file of Object.keys(GOLDEN).filter((name) => name.endsWith(".txt"))) {
      const lines = (await readFile(`test/golden/${file}`, "utf8")).split("\n");
      assert.deepEqual(
        lines.filter((line) => line.length > 100 && !line.includes("AllowedIPs = ")),
        [],
      );
    }
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
    assert.match(without.stdout, /# Node b1, leader of .*; no endpoint known: it has to call\n {2}\[Peer\]/);
    const resolved = await kg([...args, "--resolve=b1.example.com=203.0.113.1"], named);
    assert.match(resolved.stdout, /Endpoint = 203\.0\.113\.1:51820/);
    assert.doesNotMatch(resolved.stdout, /b1\.example\.com/);
  });

  it("time is the newest last-seen, or --now", async () => {
    const args = ["plan", "-f", TWO_PLACES, "--hostname=a1"];
    assert.doesNotMatch((await kg(args)).stdout, /node-stale/);
    const later = await kg([...args, "--now=1700000060"]);
    assert.match(later.stdout, /Node b1: .*\s\(node-stale\)/s);
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
      [["-f", TWO_PLACES, "--hostname=a1", "-o=conf"], 2, /-o conf goes with --peer only/],
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
