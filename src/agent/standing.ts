/** Whom the host still serves when an agent starts on it: nodes that its predecessor had heard. */
import { parsePrefix } from "../ip/index.ts";
import { ANNOTATIONS, annotationsOf, type HostState, type NodeObject } from "../mesh/index.ts";

/** Names of nodes that are peers of the device, or to whose pods a route leads (a follower has routes only). */
export function standingNodes(host: HostState, nodes: Iterable<NodeObject>): string[] {
  const keys = new Set<string>((host.mesh?.device.peers ?? []).map(({ publicKey }) => publicKey));
  const unicast = host.routes.filter(({ kind }) => kind === "unicast");
  const routed = new Set(unicast.map(({ destination }) => destination.text));
  const standing = [...nodes].filter((node) => {
    const key = annotationsOf(node)[ANNOTATIONS.key]?.trim();
    const podCIDR = parsePrefix(node.spec?.podCIDR ?? node.spec?.podCIDRs?.[0] ?? "")?.text;
    return (key !== undefined && keys.has(key)) || (podCIDR !== undefined && routed.has(podCIDR));
  });
  return standing.map(({ metadata }) => metadata.name);
}
