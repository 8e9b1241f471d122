/** What lab tests share: the built `lab` program, and a stand-in for `kg` whose whole decision is a file. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { LabOptions } from "../../src/lab/index.ts";
import type { NodePlan } from "./stand-in.ts";

let program: Promise<string> | undefined;

/** Bundles `bin/lab.ts` once, for the hidden verbs. */
export function labProgram(): Promise<string> {
  program ??= bundle();
  return program;
}

async function bundle(): Promise<string> {
  const outfile = join(process.cwd(), ".build", "lab-for-tests.cjs");
  await build({
    entryPoints: [join(process.cwd(), "bin/lab.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    define: { KILOMESH_VERSION: '"test"' },
    logLevel: "warning",
  });
  return outfile;
}

/** Whether this machine's kernel serves WireGuard: asked of the kernel itself, in a network of its own that ends with the question. */
export function kernelServesWireguard(): boolean {
  const { status } = spawnSync("unshare", ["--net", "ip", "link", "add", "wg0", "type", "wireguard"]);
  return status === 0;
}

/** Options of a lab whose `kg` is the stand-in: a script that does what its node's plan says, and then waits. */
export async function standInOptions(plans: readonly NodePlan[]): Promise<LabOptions> {
  const script = join(process.cwd(), ".build", `stand-in-kg.${process.pid}.sh`);
  mkdirSync(join(process.cwd(), ".build"), { recursive: true });
  writeFileSync(script, plans.map((plan) => plan.script).join("\n") + WAIT);
  chmodSync(script, 0o700);
  return { program: await labProgram(), kg: ["bash", script] };
}

const WAIT = `
trap 'exit 0' TERM
while :; do sleep 1 & wait; done
`;
