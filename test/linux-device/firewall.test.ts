/** kg's nftables table in a kernel: the compliance suite, drift, and foreign firewalls. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { mergePrefixes } from "../../src/ip/index.ts";
import {
  firewallCompliance,
  firewallWith,
  prefixList,
  setChange,
} from "../../src/linux/firewall/compliance.test-kit.ts";
import { createFirewallDriver } from "../../src/linux/firewall/driver.ts";
import { LinkRoles } from "../../src/linux/link-names.ts";
import { type Firewall, SET_NAMES } from "../../src/mesh/index.ts";
import { assertSandbox, run } from "./sandbox.ts";

const signal = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "kilomesh-nft-"));
const log = join(folder, "log");
const disturbance = join(folder, "disturbance");

/** An nft that writes down how it was called, and lets another program write just before. */
function installWitness(): void {
  const nft = join(folder, "nft");
  const script = `#!/bin/sh
echo "$*" >> ${log}
if [ "$1" = -f ] && [ -e ${disturbance} ]; then sh ${disturbance}; rm ${disturbance}; fi
exec /usr/sbin/nft "$@"
`;
  writeFileSync(nft, script);
  chmodSync(nft, 0o755);
}

function calls(): string[] {
  return existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : [];
}

/** A little longer than a change of others takes to be told. */
const FOREIGN_PAUSE_MS = 2_200;

function make(links = new LinkRoles({ mesh: "kilo0" })) {
  rmSync(log, { force: true });
  return createFirewallDriver({ links, path: folder });
}

describe("nftables in a kernel", () => {
  before(() => {
    assertSandbox();
    installWitness();
  });
  beforeEach(() => run("nft flush ruleset"));
  after(() => {
    run("nft flush ruleset");
    rmSync(folder, { recursive: true });
  });

  firewallCompliance("nftables", () => ({
    driver: make(),
    mutations: () => calls().filter((call) => call === "-f -").length,
    flush: async () => {
      run("nft flush ruleset");
      await sleep(30);
    },
    dropForwarded: async () => {
      run("iptables-nft -P FORWARD DROP");
      await sleep(FOREIGN_PAUSE_MS);
    },
  }));

  const some = firewallWith(
    {
      masquerade_from: ["10.2.0.0/24"],
      keep_source: ["10.2.0.0/16"],
      location_ips: ["10.8.0.0/24"],
      remote_internal: ["10.1.0.7/32"],
    },
    "mesh",
  );

  test("at rest no process is started: what is known is not listed again", async () => {
    const driver = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    for (let pass = 0; pass < 10; pass++) assert.deepEqual(await driver.read(), some);
    assert.deepEqual(calls(), ["-f -"]);
    driver.close();
  });

  test("a new agent recognises its own table by one listing", async () => {
    const first = make();
    await first.apply({ kind: "replace", firewall: some }, signal);
    first.close();
    const second = make();
    assert.deepEqual(await second.read(), some);
    assert.deepEqual(calls(), ["-j list table inet kilomesh"]);
    second.close();
  });

  test("the number of rules does not grow with the mesh (S-14), and masquerading stays last (K-57)", async () => {
    const driver = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    const few = rules();
    const texts = Array.from({ length: 2000 }, (_, index) => `10.${64 + (index >> 8)}.${index & 255}.0/25`);
    await driver.apply(
      { kind: "elements", sets: [{ set: "keep_source", add: prefixList(texts), remove: [] }] },
      signal,
    );
    assert.deepEqual(rules(), few);
    assert.equal((await driver.read())?.sets.keep_source.length, 2001);
    const nat = few.filter((line) => line.includes("return") || line.includes("masquerade"));
    assert.ok(nat[0]?.includes("return"));
    assert.ok(nat.slice(1).every((line) => line.includes("masquerade")));
    driver.close();
  });

  test("without an IPv6 prefix there is no IPv6 rule (K-93)", async () => {
    const driver = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    assert.ok(!rules().some((line) => line.includes("ip6")));
    driver.close();
  });

  const DRIFT: readonly { what: string; line: string; result: "changed" | "sets" }[] = [
    { what: "a rule is deleted", line: "nft flush chain inet kilomesh forward", result: "changed" },
    { what: "a chain is deleted", line: "nft delete chain inet kilomesh forward", result: "changed" },
    { what: "a rule is added", line: "nft add rule inet kilomesh postrouting accept", result: "changed" },
    {
      what: "a rule is put first",
      line: "nft insert rule inet kilomesh postrouting accept",
      result: "changed",
    },
    { what: "a chain is added", line: "nft add chain inet kilomesh mine", result: "changed" },
    {
      what: "a policy is changed",
      line: "nft chain inet kilomesh forward { policy drop ; }",
      result: "changed",
    },
    {
      what: "the table is put to sleep",
      line: "nft add table inet kilomesh { flags dormant ; }",
      result: "changed",
    },
    { what: "the table is deleted", line: "nft delete table inet kilomesh", result: "changed" },
    { what: "the ruleset is flushed", line: "nft flush ruleset", result: "changed" },
    { what: "a set is flushed", line: "nft flush set inet kilomesh keep_source4", result: "sets" },
    {
      what: "an element is added",
      line: "nft add element inet kilomesh keep_source4 { 9.9.9.9 }",
      result: "sets",
    },
  ];

  for (const { what, line, result } of DRIFT) {
    test(`drift: ${what}`, async () => {
      const driver = make();
      let told = 0;
      driver.watch(() => told++);
      await driver.apply({ kind: "replace", firewall: some }, signal);
      run(line);
      await sleep(30);
      assert.equal(told, 1);
      const seen = await driver.read();
      if (result === "changed") assert.equal(seen, undefined);
      else assert.notDeepEqual(seen, some);
      await driver.apply({ kind: "replace", firewall: some }, signal);
      assert.deepEqual(await driver.read(), some);
      assert.deepEqual(await readAnew(), some);
      assert.equal(told, 1, "the repair is our own");
      driver.close();
    });
  }

  test("changes of other tables are not told", async () => {
    const driver = make();
    let told = 0;
    driver.watch(() => told++);
    await driver.apply({ kind: "replace", firewall: some }, signal);
    run("nft add table inet other");
    run("nft add table ip kilomesh");
    await sleep(30);
    assert.equal(told, 0);
    driver.close();
  });

  test("somebody else writes while we do: told, and read anew", async () => {
    const driver = make();
    let told = 0;
    driver.watch(() => told++);
    await driver.apply({ kind: "replace", firewall: some }, signal);
    writeFileSync(disturbance, "nft add element inet kilomesh keep_source4 { 9.9.9.9 }");
    const add = prefixList(["10.7.0.0/24"]);
    await driver.apply({ kind: "elements", sets: [{ set: "keep_source", add, remove: [] }] }, signal);
    assert.equal(told, 1);
    const seen = await driver.read();
    assert.ok(seen?.sets.keep_source.some((prefix) => prefix.text === "9.9.9.9/32"));
    driver.close();
  });

  test("the guard's link gets another name: the table counts as changed until it is written anew", async () => {
    const links = new LinkRoles({ mesh: "kilo0", private: "eth0" });
    const driver = make(links);
    const firewall: Firewall = { ...some, remoteInternalLink: "private" };
    await driver.apply({ kind: "replace", firewall }, signal);
    assert.deepEqual(await driver.read(), firewall);
    links.set("private", "eth1");
    assert.equal(await driver.read(), undefined);
    await driver.apply({ kind: "replace", firewall }, signal);
    assert.ok(rules().some((line) => line.includes('oifname != "eth1"')));
    links.set("private", undefined);
    assert.equal(await driver.read(), undefined);
    await driver.apply({ kind: "replace", firewall }, signal);
    assert.ok(!rules().some((line) => line.includes("oifname")), "no link: nothing may leave");
    assert.deepEqual(await driver.read(), firewall);
    driver.close();
  });

  test("random sequences of element changes: the kernel holds exactly what was asked for", async () => {
    const driver = make();
    let state = firewallWith({});
    await driver.apply({ kind: "replace", firewall: state }, signal);
    const random = generator(42);
    for (let step = 0; step < 40; step++) {
      const sets = Object.fromEntries(
        SET_NAMES.map((name) => [
          name,
          random() < 0.5 ? state.sets[name] : mergePrefixes(randomPrefixes(random)),
        ]),
      ) as Firewall["sets"];
      const next: Firewall = { sets, remoteInternalLink: undefined };
      await driver.apply(
        { kind: "elements", sets: SET_NAMES.map((set) => setChange(set, state, next)) },
        signal,
      );
      assert.deepEqual(await readAnew(), next);
      state = next;
    }
    const whole = calls().filter((call) => call === "-f -").length;
    assert.ok(whole <= 41, "one transaction a step: none was refused and written anew");
    driver.close();
  });

  test("a refused transaction changes nothing and says why", async () => {
    const broken = join(folder, "broken");
    rmSync(broken, { recursive: true, force: true });
    run(`mkdir ${broken}`);
    writeFileSync(
      join(broken, "nft"),
      "#!/bin/sh\ncat > /dev/null\necho 'Error: Operation not permitted' >&2\nexit 1\n",
    );
    chmodSync(join(broken, "nft"), 0o755);
    const driver = createFirewallDriver({ links: new LinkRoles({ mesh: "kilo0" }), path: broken });
    await assert.rejects(driver.apply({ kind: "replace", firewall: some }, signal), {
      code: "FIREWALL_REFUSED",
      message: "cannot write nftables table inet kilomesh: Error: Operation not permitted",
    });
    driver.close();
  });

  test("at rest no process is started for foreign firewalls: one that changes is told, what a kube-proxy writes is not", async () => {
    run("iptables-nft -A FORWARD -j ACCEPT");
    const driver = make();
    let told = 0;
    driver.watchForeign(() => told++);
    assert.deepEqual(await driver.foreignForwardDrops(), []);
    run("iptables-nft -t nat -N KUBE-SERVICES");
    run("iptables-nft -t nat -A KUBE-SERVICES -j ACCEPT");
    await sleep(FOREIGN_PAUSE_MS);
    assert.equal(told, 1, "a new table");
    told = 0;
    run("iptables-nft -N KUBE-FORWARD");
    run("iptables-nft -A KUBE-FORWARD -j DROP");
    run("iptables-nft -t nat -F KUBE-SERVICES");
    run("iptables-nft -t nat -X KUBE-SERVICES");
    await sleep(FOREIGN_PAUSE_MS);
    assert.equal(told, 0);
    run("iptables-nft -A FORWARD -j DROP");
    await sleep(FOREIGN_PAUSE_MS);
    assert.equal(told, 1);
    assert.deepEqual(await driver.foreignForwardDrops(), [
      "table ip filter chain FORWARD (its last rule drops or rejects the rest)",
    ]);
    run("nft delete table ip filter");
    await sleep(FOREIGN_PAUSE_MS);
    assert.equal(told, 2);
    assert.deepEqual(await driver.foreignForwardDrops(), []);
    driver.close();
  });

  test("a foreign firewall's drop in FORWARD is found (K-60)", async () => {
    const driver = make();
    await driver.apply({ kind: "replace", firewall: some }, signal);
    assert.deepEqual(await driver.foreignForwardDrops(), []);
    run("iptables-nft -P FORWARD DROP");
    run(
      "nft -f -",
      "table inet fw { chain forwarded { type filter hook forward priority 10; policy accept; ct state established accept; counter reject; }; }",
    );
    run(
      "nft -f -",
      "table inet calm { chain forwarded { type filter hook forward priority 10; policy accept; ip daddr 1.2.3.4 drop; }; }",
    );
    assert.deepEqual(await driver.foreignForwardDrops(), [
      "table ip filter chain FORWARD (policy drop)",
      "table inet fw chain forwarded (its last rule drops or rejects the rest)",
    ]);
    driver.close();
  });
});

/** What a driver sees that knows nothing yet. */
async function readAnew(): Promise<Firewall | undefined> {
  const driver = createFirewallDriver({ links: new LinkRoles({ mesh: "kilo0" }) });
  const seen = await driver.read();
  driver.close();
  return seen;
}

/** The rules of our table, as nft prints them, without counters. */
function rules(): string[] {
  const lines = run("nft list table inet kilomesh").split("\n");
  return lines
    .filter((line) => line.includes("comment"))
    .map((line) => line.replace(/packets \d+ bytes \d+/, ""));
}

function randomPrefixes(random: () => number): ReturnType<typeof prefixList> {
  const count = Math.floor(random() * 12);
  return prefixList(
    Array.from({ length: count }, () => {
      const length = 20 + Math.floor(random() * 13);
      const family6 = random() < 0.2;
      const byte = (): number => Math.floor(random() * 4);
      return family6 ? `fd00::${byte()}:${byte()}/${length + 90}` : `10.0.${byte()}.${byte() * 64}/${length}`;
    }),
  );
}

/** A small generator with a seed (mulberry32), so that a failure can be repeated. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
