/** Check-ins of other nodes: every 30 s from everybody. They say that a node lives, and change nothing else. */
import type { Change } from "../kube/index.ts";
import {
  AGENT_ANNOTATION,
  ANNOTATIONS,
  checkedInAt,
  FRESH_SECONDS,
  type FreshnessView,
  hasOurAgent,
  lastSeenOf,
  type NodeObject,
} from "../mesh/index.ts";

/**
 * Whether a Node only checked in while it counted as alive: then there is nothing to do, and in a large mesh that is nearly everything
 * that is ever heard (report S-12).
 */
export function isCheckIn(change: Change<NodeObject>, view: FreshnessView): boolean {
  if (change.kind !== "changed") return false;
  const { previous, object } = change;
  if (!isAlive(previous, view)) return false;
  return hasOurAgent(previous) === hasOurAgent(object) && contentOf(previous) === contentOf(object);
}

/** How many nodes have checked in within the last 60 s. */
export function countFresh(nodes: Iterable<NodeObject>, view: FreshnessView): number {
  let count = 0;
  for (const node of nodes) if (isAlive(node, view)) count += 1;
  return count;
}

/** Without the patience that the plan has after a gap: whoever seems to come back to life is news. */
function isAlive(node: NodeObject, view: FreshnessView): boolean {
  const checkedIn = checkedInAt({ name: node.metadata.name, lastSeen: lastSeenOf(node) }, view);
  return view.at - checkedIn < FRESH_SECONDS;
}

/** Everything but the check-in, as text. */
function contentOf(node: NodeObject): string {
  const annotations = { ...node.metadata.annotations };
  delete annotations[ANNOTATIONS.lastSeen];
  delete annotations[AGENT_ANNOTATION];
  return JSON.stringify({ ...node, metadata: { ...node.metadata, annotations } });
}
