/** Between which segments there are tunnels (kilo.md §5.6, §5.11). */
import type { Segment, Topology } from "./topology.ts";

/** The segments to which the leader of the own segment has a tunnel. */
export function tunnelledSegments(topology: Topology): Segment[] {
  return topology.segments.filter((segment) => hasTunnel(topology, segment));
}

/** The segments that this host's own leader reaches without a tunnel, the own one among them. */
export function nearSegments(topology: Topology): Segment[] {
  const { own } = topology;
  if (own === undefined) return [];
  return topology.segments.filter((segment) => !hasTunnel(topology, segment));
}

function hasTunnel(topology: Topology, segment: Segment): boolean {
  const { own } = topology;
  if (own === undefined || segment === own) return false;
  return segment.neighbourhood !== own.neighbourhood || isSwitchingToCross(topology, segment);
}

/**
 * While nodes go over from `full` to `cross`, whoever still announces `full` expects tunnels inside its location too, and so does this
 * host until its own announcement has changed (report K-52). Kilo's fork does not look at announcements.
 */
function isSwitchingToCross({ granularity, mode, ownNode }: Topology, segment: Segment): boolean {
  if (granularity !== "cross" || mode === "kilo") return false;
  return segment.leader.granularity === "full" || ownNode?.granularity === "full";
}
