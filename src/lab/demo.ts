/** `lab demo`: builds the demo's scenario before one's eyes, shows who reaches whom, and stays up for people to play with. */
import { setTimeout as sleep } from "node:timers/promises";
import { connectPeers } from "./connect-peers.ts";
import { DEMO, DEMO_KG_FLAGS } from "./demo-scenario.ts";
import { demoIntroduction, demoSuggestions } from "./demo-text.ts";
import { LabError } from "./errors.ts";
import type { LabHost } from "./host.ts";
import { Lab, type LabOptions } from "./lab.ts";
import { pathSummary, pathTable } from "./path-table.ts";
import {
  allPairs,
  type CheckedPath,
  checkPaths,
  crossPairs,
  describeFailures,
  type Path,
  waitForPaths,
} from "./paths.ts";
import { drawPicture } from "./picture.ts";
import { pictureOf } from "./picture-of-objects.ts";
import type { Steps } from "./steps.ts";

export interface DemoOptions extends LabOptions {
  /** Ends when everything is shown, instead of staying up. */
  readonly once: boolean;
  readonly steps: Steps;
  /** Prints a text to standard output. */
  readonly print: (text: string) => void;
  /** Columns of the terminal. */
  readonly width: number;
  /** Ends the demo, e.g. on Ctrl-C; everything is removed then. */
  readonly signal: AbortSignal;
}

/** Milliseconds until paths that do not come up are given up. */
const PATIENCE = 30_000;

/** Kilo's default pool, with which the demo's agents run. */
const SUBNET = "10.4.0.0/16";

/** Milliseconds until a killed `kg` is started again, as a kubelet would after its first back-off. */
const RESTART_DELAY = 1000;

/** Runs the demo. Resolves to whether all paths were ok; nothing is left behind either way. */
export async function runDemo(options: DemoOptions): Promise<boolean> {
  const { steps, signal, print } = options;
  print(demoIntroduction(DEMO));
  const lab = await Lab.start(DEMO, { ...options, report: (step) => steps.begin(step) });
  try {
    const checked = await bringUp(lab, options);
    const allOk = checked.every((path) => path.result.ok);
    if (!options.once && !signal.aborted) {
      print(demoSuggestions(lab));
      await stayUp(lab, options);
    }
    steps.begin("removing everything");
    await lab.stop();
    steps.end();
    if (options.once) print(`demo: ${pathSummary(checked)}`);
    return allOk;
  } finally {
    await lab.stop();
  }
}

async function bringUp(lab: Lab, options: DemoOptions): Promise<CheckedPath[]> {
  const { steps, signal, print } = options;
  steps.begin("kg on every node, a pod on every node by its CNI plugins");
  const wireguard = options.wireguard === "kernel" ? ["--wireguard=kernel"] : ["--wireguard=userspace"];
  const [pods] = await Promise.all([
    withKgLogs(lab, lab.addPodOnEveryNode(PATIENCE, signal)),
    lab.startKg([...DEMO_KG_FLAGS, ...wireguard]),
  ]);
  steps.begin("WireGuard on the laptop, with what `kg plan --peer laptop` says");
  const laptops = await withKgLogs(lab, connectPeers(lab, DEMO_KG_FLAGS, signal));

  steps.begin("waiting for paths");
  const nodes = await Promise.all(lab.nodes.map((node) => lab.hostEnd(node)));
  const paths: Path[] = [
    ...allPairs(pods),
    ...crossPairs(pods, [...nodes, ...laptops]),
    ...crossPairs(laptops, [...pods, ...nodes]),
  ];
  const progress = (ok: number, all: number): void => steps.note(`${ok}/${all}`);
  await waitForPaths(paths, { deadline: PATIENCE, progress, signal });
  steps.begin("every path once more: ping, full ping, 1 MB over TCP");
  const checked = await checkPaths(paths);
  steps.end();

  const { items } = await lab.controlPlane.objects();
  print(`\n${drawPicture(pictureOf(items, SUBNET), options.width)}\n`);
  print(`round-trip times in milliseconds:\n\n${pathTable(checked)}\n`);
  const failures = describeFailures(checked);
  if (failures !== "") print(`${failures}\n\n${kgLogs(lab)}`);
  print(`${pathSummary(checked)}\n`);
  return checked;
}

/** Until Ctrl-C. An agent that ends is started again, as a DaemonSet would. */
async function stayUp(lab: Lab, options: DemoOptions): Promise<void> {
  const stopped = new Promise<"stopped">((resolve) => {
    if (options.signal.aborted) resolve("stopped");
    options.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
  const keep = async (node: LabHost): Promise<void> => {
    for (;;) {
      const ended = node.kg?.ended.then(() => "ended" as const) ?? stopped;
      if ((await Promise.race([ended, stopped])) === "stopped") return;
      options.print(`kg on ${node.name} has ended; starting it again`);
      await sleep(RESTART_DELAY);
      if (options.signal.aborted) return;
      await node.startKg();
    }
  };
  await Promise.all(lab.nodes.map(keep));
}

/** What the agents last said says more than the error of whoever waited for them. */
async function withKgLogs<T>(lab: Lab, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof LabError)) throw error;
    throw new LabError(error.code, `${error.message}\n${kgLogs(lab)}`, { cause: error });
  }
}

function kgLogs(lab: Lab): string {
  return lab.nodes.map((node) => `--- kg on ${node.name}${kgState(node)}\n${lastWords(node)}`).join("\n");
}

function kgState(node: LabHost): string {
  if (node.kg === undefined) return " (not started)";
  return node.kg.running ? "" : " (has ended)";
}

/** Two lines are enough to see what is wrong; stacks would fill the screen. */
function lastWords(node: LabHost): string {
  const lines = node.kg?.tail(2).split("\n") ?? [];
  return lines.map((line) => line.slice(0, 300)).join("\n");
}
