/** What the demo says before and after. Pure but for process ids and the PATH, which it reads. */
import { delimiter, dirname } from "node:path";
import type { LabHost } from "./host.ts";
import type { Lab } from "./lab.ts";
import type { Scenario } from "./scenario.ts";

export function demoIntroduction(scenario: Scenario): string {
  const places = (scenario.places ?? []).map((place) => {
    const nodes = place.hosts.map((host) => host.name).join(" and ");
    const how = place.nat === undefined ? "each with a public address" : `behind NAT (${place.nat.address})`;
    return `  ${place.name}: ${nodes}, ${how}`;
  });
  const peers = (scenario.hosts ?? []).filter((host) => host.role?.kind === "peer");
  const outside = peers.map((host) => `  ${host.name}: an external peer that calls in`);
  return ["Building one network out of:", ...places, ...outside, ""].join("\n");
}

export interface DemoSuggestions {
  /** Path of a manifest with a Peer called `phone`. */
  readonly secondPeer: string;
  /** Path of a kubectl that is new enough; undefined when there is none. */
  readonly kubectl: string | undefined;
  /** Path of the script that fetches one. */
  readonly kubectlScript: string;
}

/** What to try while the demo stays up. */
export function demoSuggestions(lab: Lab, suggestions: DemoSuggestions): string {
  const { secondPeer, kubectl, kubectlScript } = suggestions;
  return [
    "The mesh is up and stays up until Ctrl-C. In another terminal:",
    "",
    `  export KUBECONFIG=${lab.controlPlane.kubeconfig}`,
    `  KG=${lab.options.kg.join(" ")}`,
    ...kubectlLines(kubectl, kubectlScript, process.env.PATH),
    "",
    ...alignComments(clusterCommands(lab, secondPeer)),
    "",
    ...alignComments(hostCommands(lab)),
    "",
    `  logs: ${lab.state.path}/hosts/*/kg.log`,
    "",
  ].join("\n");
}

/**
 * What makes the `kubectl` of the commands below work. One that was fetched goes to the front of the PATH: another one there may be too old.
 * @param kubectl path of one that is new enough, if there is any
 * @param script path of the script that fetches one
 */
export function kubectlLines(kubectl: string | undefined, script: string, path = ""): string[] {
  if (kubectl === undefined) {
    return ["", `  kubectl is not installed (or too old); ${script} fetches one and prints its path`];
  }
  const folder = dirname(kubectl);
  if (path.split(delimiter).includes(folder)) return [`  # kubectl is ${kubectl}`];
  return [`  export PATH=${folder}${delimiter}$PATH  # kubectl is there`];
}

/** What is said of an agent that was asked to end. */
export function stoppedAgentText(node: LabHost): string {
  return [
    `kg on ${node.name} was stopped and stays so. What it made stands, packets go on; after a minute the others hold the node for dead.`,
    ...alignComments([
      [startCommand(node), "starts it again, until Ctrl-C"],
      [cleanUpCommand(node), "removes all that it made"],
    ]),
    "",
  ].join("\n");
}

/** A command, and what it does. */
type Suggestion = readonly [command: string, comment: string];

function clusterCommands(lab: Lab, secondPeer: string): Suggestion[] {
  const [first, second] = lab.nodes;
  const last = lab.nodes.findLast((node) => node.placed.publicAddress !== undefined);
  const laptop = lab.peers[0]?.name;
  const plan = "kubectl get nodes,peers -o json | $KG plan -f -";
  return [
    ["kubectl get nodes -o wide", "the nodes"],
    ["kubectl get peers", "the external peers"],
    [`kubectl describe node ${first?.name}`, "with what kg has published of it"],
    [`${plan} --hostname ${first?.name}`, `what ${first?.name} has to do, and why`],
    [`${plan} --peer ${laptop}`, "what the laptop needs; the demo keeps its WireGuard at that"],
    [
      `kubectl annotate node ${second?.name} kilo.squat.ai/leader=true`,
      "it leads its place; every path goes on",
    ],
    [
      `kubectl label node ${last?.name} --overwrite topology.kubernetes.io/region=east`,
      "it is a place of its own",
    ],
    [`kubectl apply -f ${secondPeer}`, "a second external peer, with a key made just now"],
    [`${plan} --peer phone`, "the configuration for it"],
    [`kubectl delete peer ${laptop}`, "the laptop is out"],
  ];
}

function hostCommands(lab: Lab): Suggestion[] {
  const [first, second, third] = lab.nodes;
  if (first === undefined || second === undefined || third === undefined) return [];
  const laptop = lab.peers[0];
  const [device] = first.processes("wireguard-go");
  return [
    [`nsenter -t ${laptop?.site.pid} -a ping ${second.pods[0]?.address}`, "from the laptop to a pod"],
    [`nsenter -t ${first.site.pid} -a wg show`, `a look at ${first.name}`],
    [`kill -9 ${first.kg?.pid}`, `kg of ${first.name}: packets go on, it is started again`],
    ...(device === undefined
      ? []
      : [[`kill -9 ${device}`, "its wireguard-go: back within seconds"] as const]),
    [`kill -TERM ${second.kg?.pid}`, `kg of ${second.name} ends and stays so; then:`],
    [cleanUpCommand(second), `nothing of the mesh is left on ${second.name}`],
    [startCommand(second), "and it joins again"],
    [`kill -9 ${third.site.pid}`, `${third.name} loses power, and is started again`],
  ];
}

function startCommand(node: LabHost): string {
  return `${kgOf(node)} ${node.kgFlags.join(" ")}`;
}

function cleanUpCommand(node: LabHost): string {
  return `${kgOf(node)} clean-up ${node.kgFlags.join(" ")}`;
}

/** `kg` in the namespaces of a host. */
function kgOf(node: LabHost): string {
  return `nsenter -t ${node.site.pid} -a ${node.kgCommand.join(" ")}`;
}

/** Columns at which comments begin at the latest; what is longer has its comment in a line above, so that the rest stays readable. */
const COMMENT_COLUMN = 74;

function alignComments(suggestions: readonly Suggestion[]): string[] {
  const short = suggestions.filter(([command]) => command.length <= COMMENT_COLUMN);
  const width = Math.max(0, ...short.map(([command]) => command.length));
  return suggestions.flatMap(([command, comment]) =>
    command.length <= COMMENT_COLUMN
      ? [`  ${command.padEnd(width)}  # ${comment}`]
      : [`  # ${comment}:`, `  ${command}`],
  );
}
