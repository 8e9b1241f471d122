/** Fail closed: what belongs to the mesh and has no way through it goes nowhere, never out in clear (design, "Fail closed"). */
import {
  comparePrefixes,
  createPrefixIndex,
  hostPrefix,
  type Prefix,
  uniquePrefixes,
} from "../../ip/index.ts";
import type { MeshFacts } from "../facts/mesh.ts";
import type { NodeFacts } from "../facts/node.ts";
import type { Route } from "../host-state.ts";
import { MAIN_TABLE, UNREACHABLE_METRIC } from "../names.ts";
import type { MeshOptions } from "../options.ts";
import { neighbourhood, type SegmentRules } from "../topology/segments.ts";
import type { Underlay } from "./underlay.ts";

export interface UnreachableInput {
  readonly facts: MeshFacts;
  readonly hostname: string;
  readonly options: MeshOptions;
  readonly underlay: Underlay;
}

/**
 * `unreachable` routes behind the subnet, every Peer's allowed IPs and the pod CIDR of every Node object, ready or not, but not
 * - the own pod CIDR, and without `local` those of the own location: their CNI carries them;
 * - a Peer's prefix that holds an internal IP or an endpoint of any node, the API server, or a link's prefix: the hosts must reach each other and the API server, whatever a
 *   Peer claims. The subnet and pod CIDRs have no such exception: one node with a bad annotation would open them on every host;
 * - a prefix of length 0.
 */
export function unreachableRoutes({ facts, hostname, options, underlay }: UnreachableInput): Route[] {
  const own = facts.nodes.find(({ name }) => name === hostname);
  const isCarriedByCni = cniJudge(own, { granularity: options.granularity, mode: facts.mode }, options.local);
  const needed = createPrefixIndex(
    facts.nodes.flatMap(underlayAddresses).map((prefix) => [prefix, true] as const),
  );
  const ofPeers = facts.peers.flatMap((peer) => peer.allowedIPs);
  const wanted = uniquePrefixes([
    options.subnet,
    ...ofPeers.filter(
      (prefix) => needed.within(prefix).length === 0 && underlay.objectionTo(prefix) === undefined,
    ),
    ...facts.nodes.filter((node) => !isCarriedByCni(node)).flatMap((node) => node.podCIDRs),
  ]);
  const ownPods = new Set(own?.podCIDRs.map(({ text }) => text));
  return wanted
    .filter((prefix) => prefix.length > 0 && !ownPods.has(prefix.text))
    .sort(comparePrefixes)
    .map(unreachable);
}

function unreachable(destination: Prefix): Route {
  return { kind: "unreachable", destination, table: MAIN_TABLE, metric: UNREACHABLE_METRIC };
}

function cniJudge(
  own: NodeFacts | undefined,
  rules: SegmentRules,
  local: boolean,
): (node: NodeFacts) => boolean {
  if (local || own === undefined) return () => false;
  const ownNeighbourhood = neighbourhood(own, rules);
  return (node) => neighbourhood(node, rules) === ownNeighbourhood;
}

function underlayAddresses({ endpoints, internalIPs }: NodeFacts): Prefix[] {
  const announced = endpoints.filter((endpoint) => endpoint.kind === "address");
  return [...internalIPs, ...announced].map(({ address }) => hostPrefix(address));
}
