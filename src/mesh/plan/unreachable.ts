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
  /** Destinations of the mesh that got no route. */
  readonly refused: readonly Prefix[];
}

export interface Closed {
  /** Behind every other route: neither pods nor the host itself get out. */
  readonly routes: readonly Route[];
  /** Where the host itself must get out: nothing is forwarded to them but through the mesh. */
  readonly guarded: readonly Prefix[];
}

/**
 * `unreachable` routes behind the subnet, every Peer's allowed IPs and the pod CIDR of every Node object, ready or not, but not
 * - the own pod CIDR, and without `local` those of the own location: their CNI carries them;
 * - a prefix of length 0.
 *
 * Instead of a route, the guard of forwarded packets closes
 * - a Peer's prefix that holds an internal IP or an endpoint of any node, the API server, a tunnel's far end, or a link's prefix: the hosts
 *   must reach each other and the API server, whatever a Peer claims. The subnet and pod CIDRs have no such exception: one node with a
 *   bad annotation would open them on every host;
 * - the subnet or a pod CIDR in which this host's own network or the API server lies: it would be locked out (`subnet-overlaps`);
 * - what got no route because of the underlay (see `HostRouting`).
 */
export function closePrefixes({ facts, hostname, options, underlay, refused }: UnreachableInput): Closed {
  const own = facts.nodes.find(({ name }) => name === hostname);
  const isCarriedByCni = cniJudge(own, { granularity: options.granularity, mode: facts.mode }, options.local);
  const needed = createPrefixIndex(
    facts.nodes.flatMap(underlayAddresses).map((prefix) => [prefix, true] as const),
  );
  const ownPods = new Set(own?.podCIDRs.map(({ text }) => text));
  const ofMesh = [
    options.subnet,
    ...facts.nodes.filter((node) => !isCarriedByCni(node)).flatMap((node) => node.podCIDRs),
  ].filter(({ text, length }) => length > 0 && !ownPods.has(text));
  const ofPeers = facts.peers
    .flatMap((peer) => peer.allowedIPs)
    .filter(({ text, length }) => length > 0 && !ownPods.has(text));
  const isNeeded = (prefix: Prefix) =>
    needed.within(prefix).length > 0 || underlay.objectionTo(prefix) !== undefined;

  const wanted = [...ofMesh, ...ofPeers.filter((prefix) => !isNeeded(prefix))];
  const closed = uniquePrefixes(wanted).filter((prefix) => !underlay.holdsOwnNetwork(prefix));
  const isClosed = new Set(closed.map(({ text }) => text));
  const rest = uniquePrefixes([...wanted, ...ofPeers, ...refused]);
  return {
    routes: closed.sort(comparePrefixes).map(unreachable),
    guarded: rest.filter(({ text }) => !isClosed.has(text)).sort(comparePrefixes),
  };
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
