/** What may be done to a host that takes no part in the mesh, or no part any more. */
import type { HostChanges } from "../host-changes.ts";
import type { HostState } from "../host-state.ts";

/**
 * The same changes, without those that take away what stands. A node that loses its part (its pod CIDR was removed, another node claims its
 * key) keeps its routes and sets as they were, as Kilo's do: what is wrong is one object, and it is told, not obeyed. What fails closed is
 * still added.
 */
export function withoutRemovals(changes: HostChanges, actual: HostState): HostChanges {
  return {
    ...changes,
    removeRoutes: [],
    removeRules: [],
    firewall: actual.firewall === undefined ? changes.firewall : undefined,
  };
}
