import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { BEHIND_NAT, kg } from "./program.test-kit.ts";

describe("kg plan --peer NAME -o conf", () => {
  it("a configuration for a laptop is nothing else on standard output", async () => {
    const { status, stdout, stderr } = await kg(["plan", "-f", BEHIND_NAT, "--peer=lap", "-o=conf"]);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
    assert.match(
      stdout,
      /^\[Interface\]\n# PrivateKey = \(only lap has it\)\nAddress = 10\.5\.0\.1\/32\nMTU = 1420\n/,
    );
    assertConf(stdout);
  });

  it("a laptop's configuration keeps names, and says on standard error what it cannot hold", async () => {
    const psk = "CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=";
    const text = (await readFile(BEHIND_NAT, "utf8")).replace("198.51.100.1:51820", "a1.example.com:51820");
    const { status, stdout, stderr } = await kg(
      ["plan", "-f", "-", "--peer=lap", "-o=conf"],
      `${text}  presharedKey: ${psk}\n`,
    );
    assert.equal(status, 0);
    assert.match(stdout, /^Endpoint = a1\.example\.com:51820$/m);
    assert.match(stdout, /^# PresharedKey = \(hidden\)$/m);
    assert.match(stderr, /^Node a1: endpoint a1\.example\.com does not resolve.*\(name-unresolved\)$/m);
    assert.match(stderr, /^Peer lap: its preshared key is not printed/m);
    assert.ok(!stdout.includes(psk) && !stderr.includes(psk));
    assertConf(stdout);
  });

  it("a Peer without usable allowed IPs gets no empty Address line; networks behind it are no address", async () => {
    const text = await readFile(BEHIND_NAT, "utf8");
    const unusable = await kg(["plan", "-f", "-", "--peer=lap", "-o=conf"], text.replace("10.5.0.1/32", "x"));
    assert.equal(unusable.status, 3);
    assert.match(unusable.stdout, /^# Address = \(none: /m);
    assert.match(unusable.stderr, /cannot read allowed IP: not a prefix \("x"\)/);
    assertConf(unusable.stdout);
    const router = await kg(
      ["plan", "-f", "-", "--peer=lap", "-o=conf"],
      text.replace("- 10.5.0.1/32", "- 10.5.0.1/32\n    - 192.168.50.0/24"),
    );
    assert.match(router.stdout, /^Address = 10\.5\.0\.1\/32\n# behind lap: 192\.168\.50\.0\/24\n/m);
    assertConf(router.stdout);
  });
});

/** Every line is one that wg-quick(8) reads: a section, `Key = value` with a value, a comment, or nothing. */
function assertConf(text: string): void {
  const odd = text
    .split("\n")
    .filter((line) => !/^(\[(Interface|Peer)\]|[A-Z][A-Za-z]+ = \S.*|# .*|)$/.test(line));
  assert.deepEqual(odd, []);
}
