/** A lab for the leftover tests, run as a program of its own: builds, starts everything that can be left, says so, and stays. */
import { readlinkSync } from "node:fs";
import { Lab } from "../../src/lab/index.ts";
import { THREE_PLACES, threePlacesPlans } from "./stand-in.ts";
import { standInOptions } from "./support.ts";

async function main(): Promise<void> {
  const lab = await Lab.start(THREE_PLACES, await standInOptions(threePlacesPlans()));
  process.on("SIGINT", () => {
    void lab.stop().then(() => process.exit(0));
  });
  await lab.startKg([]);
  const pods = await lab.addPodOnEveryNode();
  await Promise.all(lab.hosts.map((host) => host.prober()));
  for (const pod of pods) await lab.stream(pod, "10.244.2.2");
  await lab.captureLeaks([]);
  await lab.faults.drop({ from: "n1" });
  const pids = [...lab.underlay.blueprint.namespaces.map((plan) => lab.underlay.namespace(plan.name).pid)];
  const networks = [...pids, ...pods.map((pod) => pod.site.pid)].map((pid) =>
    readlinkSync(`/proc/${pid}/ns/net`),
  );
  process.stdout.write(
    `${JSON.stringify({ folder: lab.state.path, networks, stoppable: lab.host("n1").kg?.pid })}\n`,
  );
}

void main();
