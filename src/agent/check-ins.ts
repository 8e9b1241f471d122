/** Check-ins of other nodes: every 30 s from everybody. They say that a node lives, and change nothing else. */
import type { Change } from "../kube/index.ts";
import {
  AGENT_ANNOTATION,
  ANNOTATIONS,
  FRESH_SECONDS,
  hasOurAgent,
  lastSeenOf,
  type NodeObject,
} from "../mesh/index.ts";

/**
 * Whether a Node only checked in while it counted as alive: then there is nothing to do, and in a large mesh that is nearly everything
 * that is ever heard (report S-12).
 * @param at when the API server was heard, in Unix seconds
 */
export function isCheckIn(change: Change<NodeObject>, at: number): boolean {
  if (change.kind !== "changed") return false;
  const { previous, object } = change;
  if (at - lastSeenOf(previous) >= FRESH_SECONDS) return false;
  return hasOurAgent(previous) === hasOurAgent(object) && contentOf(previous) === contentOf(object);
}

/** How many nodes have checked in within the 60 s before `at` (Unix seconds). */
export function countFresh(nodes: Iterable<NodeObject>, at: number): number {
  let count = 0;
  for (const node of nodes) if (at - lastSeenOf(node) < FRESH_SECONDS) count += 1;
  return count;
}

/** Everything but the check-in, as text. */
function contentOf(node: NodeObject): string {
  const annotations = { ...node.metadata.annotations };
  delete annotations[ANNOTATIONS.lastSeen];
  delete annotations[AGENT_ANNOTATION];
  return JSON.stringify({ ...node, metadata: { ...node.metadata, annotations } });
}
