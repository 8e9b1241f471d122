/** What the agents of a lab last said. */
import type { LabHost } from "./host.ts";

/** The end of every node's `kg` log, for messages. */
export function agentLogs(nodes: readonly LabHost[]): string {
  return nodes.map((node) => `--- kg on ${node.name}${state(node)}\n${lastWords(node)}`).join("\n");
}

/** Two lines are enough to see what is wrong; stacks would fill the screen. */
export function lastWords(node: LabHost): string {
  const lines = node.kg?.tail(2).split("\n") ?? [];
  return lines.map((line) => line.slice(0, 300)).join("\n");
}

function state(node: LabHost): string {
  if (node.kg === undefined) return " (not started)";
  return node.kg.running ? "" : " (has ended)";
}
