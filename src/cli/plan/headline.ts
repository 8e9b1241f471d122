/** The first lines of a plan: who the host is in the mesh, and whose rules hold. */
import type { Plan, Problem } from "../../mesh/index.ts";
import { count } from "./remarks.ts";

/** e.g. `Host a2 is a member of location:A, led by a1 (10.0.1.1), through which its traffic to other locations goes`. */
export function headline(plan: Plan): string {
  return `Host ${plan.topology.hostname} ${role(plan)}`;
}

/** Who takes part, and whose rules hold. */
export function meshLine({ counts, mode }: Plan): string {
  const { nodes, peers } = counts;
  return `${count(nodes, "node")} and ${count(peers, "peer")} take part, ${modeText(mode)}`;
}

export function modeText(mode: Plan["mode"]): string {
  return mode === "kilo" ? "by Kilo's rules (not all agents are Kilomesh's)" : "all agents are Kilomesh's";
}

/** What the host does in its segment. */
export function role({ topology, leader, problems }: Plan): string {
  const { own, ownNode } = topology;
  if (own === undefined) return `takes no part: ${absence(problems)}`;
  const others = own.members.filter((node) => node !== ownNode).map(({ name }) => name);
  if (leader && others.length === 0) return `leads ${own.name}, alone`;
  if (leader) return `leads ${own.name}: traffic of ${names(others)} to other locations goes through it`;
  const [address] = own.leader.internalIPs;
  const through = address === undefined ? "" : ` (${address.address.text})`;
  return `is in ${own.name}: traffic to other locations goes through its leader, ${own.leader.name}${through}`;
}

/** Why the host takes no part. */
export function absence(problems: readonly Problem[]): string {
  const reasons = problems.filter(({ object }) => object.kind === "Host").map(({ message }) => message);
  return reasons.length === 0 ? "its Node object is not ready" : reasons.join("; ");
}

function names(all: readonly string[]): string {
  const [first, second, ...more] = all;
  if (more.length > 0) return `${first}, ${second} and ${more.length} more`;
  return second === undefined ? `${first}` : `${first} and ${second}`;
}
