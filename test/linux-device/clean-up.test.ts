/** `kg clean-up` on a host with things of kg's and of others, while the API server cannot be reached. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parsePrefix } from "../../src/ip/index.ts";
import { createCniFile } from "../../src/linux/index.ts";
import { NFT_TABLE, POLICY_TABLE, ROUTE_PROTOCOL, RULE_PRIORITY } from "../../src/mesh/index.ts";
import { buildPrograms, type Outcome, runKg } from "./program.ts";
import { assertSandbox, run } from "./sandbox.ts";

const HOST = "t-clean";
const LINK = "kclean";
const OWN = `protocol ${ROUTE_PROTOCOL}`;

/** Another network's, in the folder of kg's file. */
const FOREIGN_CNI = '{"cniVersion":"0.4.0","name":"cbr0","plugins":[{"type":"flannel"}]}\n';

/** A key of no meaning; its text only has to stay. */
const KEY = "QABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnGA=";

describe("kg clean-up without an API server", () => {
  const folder = mkdtempSync(join(tmpdir(), "kilomesh-clean-"));
  const cni = join(folder, "net.d");
  const own = join(cni, "10-kilo.conflist");
  const foreign = join(cni, "20-flannel.conflist");
  const key = join(folder, "state/key");
  let others: string;

  before(async () => {
    assertSandbox();
    buildPrograms();
    mkdirSync(cni);
    mkdirSync(join(folder, "state"));
    writeFileSync(key, KEY, { mode: 0o600 });
    writeFileSync(foreign, FOREIGN_CNI);
    run(`ip netns add ${HOST}`);
    onHost(THINGS_OF_OTHERS);
    others = look();
    onHost(THINGS_OF_KG);
    const range = parsePrefix("10.2.0.0/24");
    assert.ok(range !== undefined);
    await createCniFile({ path: own }).write({ ranges: [range], mtu: 1420 });
  });

  after(() => {
    // A wireguard-go whose socket is removed ends.
    rmSync(`/run/wireguard/${LINK}.sock`, { force: true });
    run(`ip netns delete ${HOST}`);
    rmSync(folder, { recursive: true });
  });

  function cleanUp(path = own): Promise<Outcome> {
    const flags = [
      `--interface=${LINK}`,
      "--hostname=a1",
      "--wireguard=userspace",
      `--cni-path=${path}`,
      `--state-folder=${join(folder, "state")}`,
      "--master=http://127.0.0.1:1",
    ];
    return runKg(["clean-up", ...flags], { through: ["ip", "netns", "exec", HOST] });
  }

  test("what is kg's goes and is named, what is not stays, and exit code 1 says that the Node was not reached", async () => {
    assert.notEqual(look(), others);
    const { exitCode, stdout, told } = await cleanUp();
    const lines = stdout.trimEnd().split("\n");
    assert.match(lines[0] ?? "", /^kept annotations of Node a1: .*ECONNREFUSED.*; remove them with kubectl/);
    assert.deepEqual(lines.slice(1).sort(), [
      "not clean: see what was kept above",
      `removed CNI file ${own}`,
      `removed WireGuard link ${LINK} (userspace)`,
      `removed nftables table inet ${NFT_TABLE}`,
      `removed route 10.2.1.0/24 dev ${LINK}`,
      "removed route 10.2.2.0/24 via 192.0.2.9",
      "removed route fd00:2::/64",
      "removed route unreachable 10.2.0.0/16 metric 4000000000",
      `removed rule ${RULE_PRIORITY}: from all to 10.2.3.0/24 lookup ${POLICY_TABLE}`,
    ]);
    assert.deepEqual([exitCode, told], [1, []]);
    assert.equal(look(), others);
    assert.deepEqual(readdirSync(cni), ["20-flannel.conflist"]);
    assert.equal(readFileSync(foreign, "utf8"), FOREIGN_CNI);
    assert.equal(readFileSync(key, "utf8"), KEY);
    assert.ok(!existsSync(`/run/wireguard/${LINK}.sock`), "the socket of the device was left");
  });

  test("once more: nothing is left to remove, and a CNI file of others is not kg's for its path", async () => {
    const { exitCode, stdout } = await cleanUp(foreign);
    assert.doesNotMatch(stdout, /^removed/m);
    assert.match(stdout, /^kept annotations of Node a1: /);
    assert.equal(exitCode, 1);
    assert.equal(look(), others);
    assert.equal(readFileSync(foreign, "utf8"), FOREIGN_CNI);
  });
});

/** Near to kg's in every way but the one by which kg knows its own: another protocol, another family of table. */
const THINGS_OF_OTHERS = `
  ip link set lo up
  ip link add t-clean-a type veth peer name t-clean-b
  ip addr add 192.0.2.1/24 dev t-clean-a
  ip link set t-clean-a up
  ip link set t-clean-b up
  ip route add 10.2.9.0/24 via 192.0.2.9 protocol static
  ip route add unreachable 10.9.0.0/16 metric 4000000000 protocol static
  ip route add 10.2.9.0/24 dev t-clean-a table ${POLICY_TABLE} protocol static
  ip -6 route add fd00:9::/64 dev t-clean-a protocol static
  ip rule add to 10.2.9.0/24 lookup ${POLICY_TABLE} priority ${RULE_PRIORITY} protocol static
  nft add table ip ${NFT_TABLE}
  nft add table inet others
  nft add chain inet others forward { type filter hook forward priority 0 ; policy drop ; }`;

const THINGS_OF_KG = `
  wireguard-go ${LINK}
  ip addr add 10.4.0.1/16 dev ${LINK} noprefixroute
  ip link set ${LINK} up
  ip route add 10.2.1.0/24 dev ${LINK} ${OWN}
  ip route add 10.2.2.0/24 via 192.0.2.9 dev t-clean-a ${OWN}
  ip route add unreachable 10.2.0.0/16 metric 4000000000 ${OWN}
  ip -6 route add fd00:2::/64 dev t-clean-a ${OWN}
  ip rule add to 10.2.3.0/24 lookup ${POLICY_TABLE} priority ${RULE_PRIORITY} ${OWN}
  nft add table inet ${NFT_TABLE}
  nft add chain inet ${NFT_TABLE} forward`;

function onHost(lines: string): void {
  for (const line of lines.split("\n")) if (line.trim() !== "") run(`ip netns exec ${HOST} ${line.trim()}`);
}

/** All that kg could have made or taken. Routes that the kernel makes by itself for IPv6 come when they want. */
function look(): string {
  const looks = [
    "ip -brief address",
    "ip -4 route show table all",
    `ip -6 route show table all ${OWN}`,
    "ip -6 route show table all protocol static",
    "ip -4 rule",
    "ip -6 rule",
    "nft -s list ruleset",
  ];
  return looks.map((line) => run(`ip netns exec ${HOST} ${line}`)).join("\n");
}
