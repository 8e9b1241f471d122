/** From the start of the last `kg` to every path. */
import { describeFailures } from "../../src/lab/index.ts";
import type { Claim } from "./claim.ts";
import { DemoMesh, type StartTimes } from "./demo-mesh.ts";
import { once } from "./once.ts";

const started = once(async () => {
  const times: StartTimes[] = [];
  for (let run = 0; run < 3; run++) times.push(await startOnce());
  return times;
});

export const START_CLAIMS: readonly Claim[] = [
  {
    name: "start of the last kg to all paths ok, public nodes",
    kind: "time",
    goal: 2,
    unit: "s",
    measure: async () => (await started()).map((times) => times.public),
  },
  {
    name: "start of the last kg to all paths ok, with a node behind NAT",
    kind: "time",
    goal: 8,
    unit: "s",
    measure: async () => (await started()).map(({ behindNat }) => behindNat),
  },
  {
    name: "paths that do not come up",
    kind: "count",
    goal: 0,
    unit: "",
    beside: async () => {
      const failed = (await started()).flatMap((times) => times.failed);
      return failed.length === 0 ? "three starts" : describeFailures(failed).replaceAll("\n", "; ");
    },
    measure: async () => [Math.max(...(await started()).map(({ failed }) => failed.length))],
  },
];

async function startOnce(): Promise<StartTimes> {
  const mesh = await DemoMesh.build();
  try {
    return await mesh.start();
  } finally {
    await mesh.stop();
  }
}
