/** Starts that cannot succeed: each ends kg with exit code 1 and one line that says what to do. */
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildPrograms, KG, runKg } from "./program.ts";
import { assertSandbox, run } from "./sandbox.ts";

/** Any but root. */
const NOBODY = 65_534;

/** 30 s until kg gives up, and what a slow machine adds. */
const NO_CONTACT_MS = 40_000;

interface Case {
  readonly what: string;
  readonly says: RegExp;
  /** Beside or in place of the usual ones. %F is the folder of this test, %P the taken port. */
  readonly flags?: readonly string[];
  /** What starts it; %W is the path of wireguard-go. */
  readonly through?: readonly string[];
  readonly uid?: number;
}

const CASES: readonly Case[] = [
  {
    what: "not root",
    uid: NOBODY,
    says: /^kg: cannot run the agent: .*has to run as root/,
  },
  {
    what: "no kubeconfig where one is said to be",
    flags: ["--kubeconfig=%F/none"],
    says: /^kg: cannot .*\/none.*no such file/,
  },
  {
    what: "a kubeconfig that is no YAML",
    flags: ["--kubeconfig=%F/malformed"],
    says: /^kg: cannot .*\/malformed/,
  },
  {
    what: "a key file that holds no key",
    flags: ["--state-folder=%F/corrupt"],
    says: /^kg: cannot use key file .*\/corrupt\/key: it does not hold a WireGuard key .*restore it/,
  },
  {
    what: "a taken port",
    flags: ["--listen=127.0.0.1:%P"],
    says: /^kg: cannot listen on "127\.0\.0\.1:\d+": the port is taken.*--listen/,
  },
  {
    what: "no wireguard-go",
    flags: ["--wireguard=userspace"],
    through: ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null "$0" && exec "$@"', "%W"],
    says: /^kg: cannot find wireguard-go: not installed; .*apt-get install wireguard-go$/,
  },
  {
    what: "an API server that cannot be reached",
    says: /^kg: cannot start: no contact with the API server within 30 s: .*ECONNREFUSED/,
  },
];

describe("a start that cannot succeed", { concurrency: true }, () => {
  const folder = mkdtempSync(join(tmpdir(), "kilomesh-start-"));
  // A checkout may lie where only root can read, and one of the starts is not root's.
  const program = join(folder, "kg.cjs");
  let taken: Server;
  let port = 0;

  before(async () => {
    assertSandbox();
    run("ip link set lo up");
    buildPrograms();
    chmodSync(folder, 0o755);
    copyFileSync(KG, program);
    writeFileSync(join(folder, "malformed"), "clusters: [{\n");
    run(`mkdir ${folder}/corrupt`);
    writeFileSync(join(folder, "corrupt/key"), "no key\n", { mode: 0o600 });
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", () => resolve()));
    const address = taken.address();
    assert.ok(typeof address === "object" && address !== null);
    port = address.port;
  });

  after(() => {
    taken.close();
    rmSync(folder, { recursive: true });
  });

  function filled(words: readonly string[]): string[] {
    const values: Record<string, string> = { "%F": folder, "%P": String(port), "%W": wireguardGo() };
    return words.map((word) => word.replace(/%[FPW]/g, (name) => values[name] ?? name));
  }

  for (const [index, { what, says, flags = [], through = [], uid }] of CASES.entries()) {
    test(`${what}: exit code 1, and one line says so`, { timeout: NO_CONTACT_MS }, async () => {
      const state = join(folder, `state-${index}`);
      const given = filled(flags);
      const usual = [
        `--interface=t-start${index}`,
        "--hostname=a1",
        "--encapsulate=never",
        `--cni-path=${folder}/cni-${index}`,
        "--listen=127.0.0.1:0",
        `--state-folder=${state}`,
        "--master=http://127.0.0.1:1",
      ].filter((flag) => !isReplaced(flag, given));
      const outcome = await runKg([...usual, ...given], { through: filled(through), uid, program });
      assert.equal(outcome.exitCode, 1, outcome.told.join("\n"));
      assert.equal(outcome.told.length, 1, outcome.told.join("\n"));
      assert.match(outcome.told[0] ?? "", says);
      assert.ok(!existsSync(join(folder, `cni-${index}`)), "a CNI file was left");
      const link = run("ip -o link").includes(`t-start${index}`);
      assert.ok(!link, "a link was left");
      // Only who waited for the API server came as far as the key.
      assert.equal(existsSync(join(state, "key")), index === CASES.length - 1);
    });
  }
});

/** A flag that is given twice is refused: the case's own value counts. */
function isReplaced(flag: string, given: readonly string[]): boolean {
  const name = flag.split("=")[0];
  return given.some((own) => own.startsWith(`${name}=`));
}

function wireguardGo(): string {
  return run("which wireguard-go").trim();
}
