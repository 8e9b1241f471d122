/** Segments: the groups of nodes of which one leads the tunnels to the others (kilo.md §5.1, §5.11). */
import type { Mode } from "../facts/mode.ts";
import type { NodeFacts } from "../facts/node.ts";
import type { ReadyNode } from "../facts/readiness.ts";
import type { Granularity } from "../options.ts";
import { compareBytes, compareNames } from "./order.ts";

export interface SegmentRules {
  readonly granularity: Granularity;
  readonly mode: Mode;
}

/** Members by segment name: segments in byte order of their names (so `location:…` before `node:…`), members in order of theirs. */
export function groupBySegment(nodes: readonly ReadyNode[], rules: SegmentRules): Map<string, ReadyNode[]> {
  const groups = new Map<string, ReadyNode[]>();
  for (const node of [...nodes].sort(compareNames)) {
    const name = segmentName(node, rules.granularity);
    const members = groups.get(name);
    if (members === undefined) groups.set(name, [node]);
    else members.push(node);
  }
  return new Map([...groups].sort(([a], [b]) => compareBytes(a, b)));
}

/** `location:<location>`, or `node:<name>` in `full` and `cross` and for a node without internal IP. */
export function segmentName(node: NodeFacts, granularity: Granularity): string {
  const isAlone = granularity !== "location" || node.internalIPs.length === 0;
  return isAlone ? `node:${node.name}` : `location:${node.location}`;
}

/**
 * Within which neighbourhood a node reaches others without a tunnel. Segments of the same neighbourhood have no tunnel between them.
 *
 * In `cross` it is the location. The fork counts a node without internal IP in it, although nothing reaches that node there; when all
 * agents are ours such a node is a neighbourhood of its own, so everybody tunnels to it.
 */
export function neighbourhood(node: NodeFacts, rules: SegmentRules): string {
  if (rules.granularity !== "cross") return segmentName(node, rules.granularity);
  const isAlone = rules.mode === "kilomesh" && node.internalIPs.length === 0;
  return isAlone ? `node:${node.name}` : `location:${node.location}`;
}
