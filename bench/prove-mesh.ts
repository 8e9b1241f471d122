/**
 * What `make prove WHAT=mesh` runs: measures the claims about the mesh here and now, a line each.
 * With RECORD=1 the results are kept in bench/results/mesh.json, with the machine. Exit code 1: a claim is wrong beyond excuse.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { AGENT_200, AGENT_200_CLAIMS, measureAgent200 } from "./claims/agent-200.ts";
import { check, type Verdict } from "./claims/claim.ts";
import { DEMO_TWICE_CLAIMS } from "./claims/demo-twice.ts";
import { describeMachine, type Machine } from "./claims/machine.ts";
import { RUNNING_MESH_CLAIMS } from "./claims/running-mesh.ts";
import { START_CLAIMS } from "./claims/start.ts";

const RESULTS = "bench/results";

const CLAIMS = [...DEMO_TWICE_CLAIMS, ...AGENT_200_CLAIMS, ...START_CLAIMS, ...RUNNING_MESH_CLAIMS];

async function main(): Promise<number> {
  const machine = describeMachine();
  const { cpu, cores, load, node } = machine;
  console.log(`on ${cpu}, ${cores} cores, load ${load} before, Node.js ${node}`);
  const verdicts: Verdict[] = [];
  for (const claim of CLAIMS) {
    const verdict = await check(claim);
    console.log(verdict.line);
    verdicts.push(verdict);
  }
  if (process.env.RECORD === "1") record(machine, verdicts);
  return verdicts.some(({ fatal }) => fatal) ? 1 : 0;
}

function record(machine: Machine, verdicts: readonly Verdict[]): void {
  const results = verdicts.map(({ claim, measured, goal, unit, holds }) => ({
    claim,
    measured,
    goal,
    unit,
    holds,
  }));
  mkdirSync(RESULTS, { recursive: true });
  const text = JSON.stringify({ date: new Date().toISOString(), machine, results }, undefined, 2);
  writeFileSync(`${RESULTS}/mesh.json`, `${text}\n`);
}

(process.argv[2] === AGENT_200 ? measureAgent200().then(() => 0) : main()).then((exitCode) => {
  process.exitCode = exitCode;
});
