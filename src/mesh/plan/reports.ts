/** Problems of the topology, and of this host in it. */
import type { MeshFacts } from "../facts/mesh.ts";
import type { PlanInput } from "../options.ts";
import { nodeProblem, type Problem, type ProblemReason } from "../problems.ts";
import { segmentName } from "../topology/segments.ts";
import type { Topology } from "../topology/topology.ts";

/** What the topology had to leave out. */
export function topologyProblems({ droppedLocationIPs, unnumbered, segments, subnet }: Topology): Problem[] {
  const leaders = new Map(segments.map(({ name, leader }) => [name, leader.name]));
  return [
    ...droppedLocationIPs.map(({ segment, prefix, other }) => {
      const name = leaders.get(segment) ?? segment;
      return nodeProblem(name, "location-ip-left-out", `${prefix.text} of ${segment} collides with ${other}`);
    }),
    ...unnumbered.map((segment) => {
      const message = `subnet ${subnet.text} has no address left for ${segment}`;
      return optionProblem("subnet", "subnet-exhausted", message);
    }),
  ];
}

/** What keeps this host from taking part, and what it cannot do as told. */
export function ownHostProblems(facts: MeshFacts, topology: Topology, input: PlanInput): Problem[] {
  return [
    absence(facts, topology, input),
    ...unassignedInternalIPs(topology, input),
    refusedOption(facts, input),
  ].filter((problem) => problem !== undefined);
}

function absence(facts: MeshFacts, topology: Topology, { hostname }: PlanInput): Problem | undefined {
  if (topology.own !== undefined) return undefined;
  const object = { kind: "Host", name: hostname } as const;
  const own = facts.nodes.find(({ name }) => name === hostname);
  if (own === undefined)
    return { object, reason: "host-unknown", message: `no Node object is named ${hostname}` };
  const segment = segmentName(own, topology.granularity);
  const cause = topology.unnumbered.includes(segment)
    ? `its segment ${segment} has no tunnel address`
    : (facts.problems.find(isAbout(hostname))?.message ?? "its Node object is not ready");
  return { object, reason: "host-left-out", message: cause };
}

const LEAVING_OUT: readonly ProblemReason[] = [
  "node-without-key",
  "node-without-pod-cidr",
  "node-without-endpoint",
  "node-stale",
];

function isAbout(hostname: string): (problem: Problem) => boolean {
  return ({ object, reason }) =>
    object.kind === "Node" && object.name === hostname && LEAVING_OUT.includes(reason);
}

function unassignedInternalIPs({ ownNode }: Topology, { hostname, own }: PlanInput): Problem[] {
  if (own.addresses === undefined) return [];
  const assigned = new Set(own.addresses.map(({ text }) => text));
  const missing = (ownNode?.internalIPs ?? []).filter(({ address }) => !assigned.has(address.text));
  return missing.map(({ address }) => {
    return nodeProblem(
      hostname,
      "internal-ip-unassigned",
      `internal IP ${address.text} stands on no link of this host`,
    );
  });
}

function refusedOption({ mode }: MeshFacts, { options }: PlanInput): Problem | undefined {
  if (mode !== "kilo" || options.routeInternalIP) return undefined;
  const message = "cannot leave internal IPs out of the mesh: agents of Kilo's take part and send to them";
  return optionProblem("route-internal-ip", "option-refused", message);
}

function optionProblem(name: string, reason: ProblemReason, message: string): Problem {
  return { object: { kind: "Option", name }, reason, message };
}
