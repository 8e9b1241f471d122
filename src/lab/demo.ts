/** `lab demo`: builds the demo's scenario before one's eyes, shows who reaches whom, and stays up for people to play with. */
import { dirname, join } from "node:path";
import { type ApiObject, peerObject } from "./cluster-objects.ts";
import { connectPeers } from "./connect-peers.ts";
import { DEMO, DEMO_KG_FLAGS, DEMO_SUBNET } from "./demo-scenario.ts";
import { stayUp } from "./demo-stay.ts";
import { demoIntroduction, demoSuggestions } from "./demo-text.ts";
import { LabError } from "./errors.ts";
import { findKubectl } from "./find-kubectl.ts";
import { Lab, type LabOptions } from "./lab.ts";
import { agentLogs } from "./last-words.ts";
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
import { type Steps, stepsUntil } from "./steps.ts";
import { generateKeyPair } from "./wireguard-keys.ts";

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

/**
 * Runs the demo; nothing is left behind, however it ends. Resolves to whether all paths were ok and it ended because it was told to.
 * @throws what stopped it before it was up; the signal's reason after Ctrl-C
 */
export async function runDemo(options: DemoOptions): Promise<boolean> {
  const { signal, print } = options;
  print(demoIntroduction(DEMO));
  // Said at once: what is under way may take a moment to notice.
  signal.addEventListener("abort", () => options.steps.begin("removing everything"), { once: true });
  const steps = stepsUntil(signal, options.steps);
  let lab: Lab | undefined;
  try {
    lab = await Lab.start(DEMO, { ...options, report: (step) => steps.begin(step) });
    const checked = await unlessAborted(signal, bringUp(lab, { ...options, steps }));
    const allOk = checked.every((path) => path.result.ok);
    const trouble = options.once ? undefined : await showAndStay(lab, options);
    if (trouble !== undefined) print(trouble);
    steps.begin("removing everything");
    await lab.stop();
    options.steps.end();
    if (options.once) print(`demo: ${pathSummary(checked)}`);
    return allOk && trouble === undefined;
  } catch (error) {
    throw signal.aborted ? error : namingDeadHosts(lab, error);
  } finally {
    await lab?.stop();
    options.steps.end();
  }
}

/** A host that was killed while the demo started is the reason for whatever failed then. */
function namingDeadHosts(lab: Lab | undefined, error: unknown): unknown {
  const dead = lab?.hosts.filter((host) => !host.alive).map((host) => host.name) ?? [];
  if (dead.length === 0 || !(error instanceof LabError)) return error;
  const what = `first process of ${dead.join(", ")} has ended`;
  return new LabError("process", `cannot go on: ${what} (${error.message})`, { cause: error });
}

async function showAndStay(lab: Lab, options: DemoOptions): Promise<string | undefined> {
  const file = lab.state.write("phone.json", JSON.stringify(secondPeer(), undefined, 2));
  // The bundle stands in dist/.
  const kubectlScript = join(dirname(options.program), "../scripts/kubectl.sh");
  const kubectl = await findKubectl(kubectlScript);
  options.print(demoSuggestions(lab, { secondPeer: file, kubectl, kubectlScript }));
  return stayUp(lab, options);
}

/** A Peer for people to add; the private key of it is thrown away, as nothing in the lab is going to be it. */
function secondPeer(): ApiObject {
  const role = { kind: "peer", allowedIPs: ["10.5.0.2/32"], persistentKeepalive: 10 } as const;
  return peerObject("phone", role, generateKeyPair().publicKey);
}

/** The work's result, or the signal's reason at once. What work goes on then fails by itself when its lab is taken away. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  work.catch(() => undefined);
  aborted.catch(() => undefined);
  return Promise.race([work, aborted]);
}

async function bringUp(lab: Lab, options: DemoOptions): Promise<CheckedPath[]> {
  const { steps, signal, print } = options;
  steps.begin("kg on every node, a pod on every node by its CNI plugins");
  const wireguard = options.wireguard === "kernel" ? ["--wireguard=kernel"] : ["--wireguard=userspace"];
  const [pods] = await Promise.all([
    withAgentLogs(lab, lab.addPodOnEveryNode(PATIENCE, signal)),
    lab.startKg([...DEMO_KG_FLAGS, ...wireguard]),
  ]);
  steps.begin("WireGuard on the laptop, with what `kg plan --peer laptop` says");
  const laptops = await withAgentLogs(lab, connectPeers(lab, DEMO_KG_FLAGS, signal));

  steps.begin("waiting for paths");
  const nodes = await Promise.all(lab.nodes.map((node) => lab.hostEnd(node)));
  const paths: Path[] = [
    ...allPairs(pods),
    ...crossPairs(pods, [...nodes, ...laptops]),
    ...crossPairs(nodes, [...pods, ...nodes, ...laptops]),
    ...crossPairs(laptops, [...pods, ...nodes]),
  ];
  const progress = (ok: number, all: number): void => steps.note(`${ok}/${all}`);
  await waitForPaths(paths, { deadline: PATIENCE, progress, signal });
  steps.begin("every path once more: ping, full ping, 1 MB over TCP");
  const checked = await checkPaths(paths);
  signal.throwIfAborted();
  steps.end();

  const { items } = await lab.controlPlane.objects();
  const columns = [...pods, ...nodes, ...laptops].map((end) => end.name);
  print(`\n${drawPicture(pictureOf(items, DEMO_SUBNET), options.width)}\n`);
  print(`round-trip times in milliseconds:\n\n${pathTable(checked, columns)}\n`);
  const failures = describeFailures(checked);
  if (failures !== "") print(`${failures}\n\n${agentLogs(lab.nodes)}`);
  print(`${pathSummary(checked)}\n`);
  return checked;
}

/** What the agents last said says more than the error of whoever waited for them. */
async function withAgentLogs<T>(lab: Lab, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof LabError)) throw error;
    throw new LabError(error.code, `${error.message}\n${agentLogs(lab.nodes)}`, { cause: error });
  }
}
