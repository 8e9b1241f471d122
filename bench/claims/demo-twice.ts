/** The demo as the README says it, twice in a row: how long each takes, and what is left on the machine. */
import { spawnSync } from "node:child_process";
import type { Claim } from "./claim.ts";
import { once } from "./once.ts";
import { changedSince, traces } from "./traces.ts";

interface TwoDemos {
  /** Of each run, with the build before it. */
  readonly seconds: readonly number[];
  /** `demo: N/N paths ok`, of each run. */
  readonly summary: string;
  readonly left: readonly string[];
}

const demos = once(async (): Promise<TwoDemos> => {
  const before = traces();
  const runs = [demoOnce(), demoOnce()];
  const left = await changedSince(before);
  const summary = runs.map((run) => run.summary).join(", ");
  return { seconds: runs.map(({ seconds }) => seconds), summary, left };
});

export const DEMO_TWICE_CLAIMS: readonly Claim[] = [
  {
    name: "make demo ONCE=1 twice: the slower one",
    kind: "time",
    goal: 60,
    unit: "s",
    beside: async () => (await demos()).summary,
    measure: async () => [Math.max(...(await demos()).seconds)],
  },
  {
    name: "make demo ONCE=1 twice: left behind",
    kind: "count",
    goal: 0,
    unit: "",
    beside: async () =>
      (await demos()).left[0] ?? "processes, namespaces, mounts, files, the machine's network",
    measure: async () => [(await demos()).left.length],
  },
];

/** @throws Error when it fails, or when not every path is ok */
function demoOnce(): { readonly seconds: number; readonly summary: string } {
  const started = Date.now();
  const { status, stdout, stderr } = spawnSync("make", ["demo", "ONCE=1"], { encoding: "utf8" });
  const seconds = (Date.now() - started) / 1000;
  const summary = /demo: (\d+)\/\1 paths ok/.exec(stdout)?.[0];
  if (status !== 0 || summary === undefined)
    throw new Error(`the demo ends with status ${status}: ${`${stdout}\n${stderr}`.trim().slice(-300)}`);
  return { seconds, summary };
}
