/** Who leads a segment (kilo.md §5.2): a rule without memory, so that all agents find the same one. */
import { isPublic, isPublicForKilo } from "../../ip/index.ts";
import type { Endpoint } from "../../wireguard/index.ts";
import type { Mode } from "../facts/mode.ts";
import type { ReadyNode } from "../facts/readiness.ts";
import type { Resolve } from "../options.ts";

/**
 * The first by name that wants to lead and has a public endpoint; else that wants to lead; else that has a public endpoint; else the first.
 * A node that has no endpoint at all leads only a segment in which nobody has one (report K-07).
 * `members` are sorted by name; there is at least one.
 */
export function electLeader(members: readonly ReadyNode[], mode: Mode, resolve: Resolve): ReadyNode {
  const reachable = members.filter((node) => node.endpoints.length > 0);
  const candidates = reachable.length > 0 ? reachable : members;
  const isPublicNode = (node: ReadyNode) => hasPublicEndpoint(node.endpoints, mode, resolve);
  const willing = candidates.filter((node) => node.leader);
  const leader = willing.find(isPublicNode) ?? willing[0] ?? candidates.find(isPublicNode) ?? candidates[0];
  if (leader === undefined) throw new RangeError("cannot elect a leader: no members (0)");
  return leader;
}

/**
 * Whether others can reach an endpoint across the Internet. Kilo judges the address to which a name resolves, an unresolved name is not
 * public. Agents may get different answers, so when all are ours every name counts as public (report K-14).
 */
function hasPublicEndpoint(endpoints: readonly Endpoint[], mode: Mode, resolve: Resolve): boolean {
  return endpoints.some((endpoint) => {
    if (endpoint.kind === "address")
      return mode === "kilo" ? isPublicForKilo(endpoint.address) : isPublic(endpoint.address);
    if (mode === "kilomesh") return true;
    const address = resolve(endpoint.name)?.[0];
    return address !== undefined && isPublicForKilo(address);
  });
}
