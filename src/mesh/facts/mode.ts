/** Whose mesh it is: Kilo's rules hold while a single agent of Kilo's may take part (design, "Whose mesh"). */
import { AGENT_ANNOTATION } from "../names.ts";
import type { NodeObject } from "../objects.ts";
import { ANNOTATIONS, annotationsOf } from "./annotations.ts";

/** `kilo`: the contract of kilo.md §0 binds. `kilomesh`: all agents are ours. */
export type Mode = "kilo" | "kilomesh";

/** Decided over all nodes that carry a key, ready or not. A mesh without any node is ours. */
export function meshMode(nodes: readonly NodeObject[]): Mode {
  return nodes.filter(carriesKey).every(hasOurAgent) ? "kilomesh" : "kilo";
}

/**
 * The value of `kilomesh.io/agent`: version and last-seen. It counts only while its second word equals the `last-seen` annotation:
 * an agent of Kilo's after a roll-back writes last-seen alone, and the annotation of ours that it left behind is void.
 */
export function agentAnnotation(version: string, lastSeen: number): string {
  return `${version} ${lastSeen}`;
}

/** Whether an agent of ours wrote the node's last check-in. */
export function hasOurAgent(node: NodeObject): boolean {
  const annotations = annotationsOf(node);
  const words = (annotations[AGENT_ANNOTATION] ?? "").split(" ");
  return (
    words.length === 2 && words[0] !== "" && words[1] !== "" && words[1] === annotations[ANNOTATIONS.lastSeen]
  );
}

function carriesKey(node: NodeObject): boolean {
  return (annotationsOf(node)[ANNOTATIONS.key] ?? "") !== "";
}
