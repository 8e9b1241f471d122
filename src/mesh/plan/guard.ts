/** The guard of forwarded packets: what is closed to pods where no `unreachable` route may stand, because the host itself needs the way. */
import {
  createPrefixIndex,
  hostPrefix,
  isLocal,
  mergePrefixes,
  type Prefix,
  subtractPrefixes,
} from "../../ip/index.ts";
import type { MeshFacts } from "../facts/mesh.ts";
import { contactAddresses, type NodeFacts } from "../facts/node.ts";
import type { Route, Rule } from "../host-state.ts";
import { MAIN_TABLE, POLICY_TABLE, RULE_PRIORITY, UNREACHABLE_METRIC } from "../names.ts";
import type { MeshOptions } from "../options.ts";
import { neighbourhood } from "../topology/segments.ts";
import type { Topology } from "../topology/topology.ts";
import type { Underlay } from "./underlay.ts";

export interface GuardInput {
  readonly hostname: string;
  readonly facts: MeshFacts;
  readonly topology: Topology;
  readonly options: MeshOptions;
  readonly underlay: Underlay;
  /** The host's unicast routes. */
  readonly routes: readonly Route[];
  /** What is closed without an `unreachable` route (see `closePrefixes`). */
  readonly guarded: readonly Prefix[];
}

export interface Guard {
  /** For the firewall: leave by the mesh or not at all. */
  readonly prefixes: readonly Prefix[];
  /** For own pods, on a host that leads no tunnels. */
  readonly routes: readonly Route[];
  readonly rules: readonly Rule[];
}

/**
 * Closes each prefix as an `unreachable` route would: what is longer than it and known to be elsewhere stays open, such as the
 * mesh's routes, links of this host, the API server, the own location's nodes and pods, and addresses at which nodes are contacted.
 *
 * The firewall knows the mesh by its link. A host that leads no tunnels often reaches its leader by the link of its default route, where
 * that tells nothing: there a rule for each own pod CIDR leads into the policy table, in which the prefix is unreachable.
 */
export function guardForwarded(input: GuardInput): Guard {
  if (input.guarded.length === 0) return { prefixes: [], routes: [], rules: [] };
  const open = createPrefixIndex(openPrefixes(input).map((prefix) => [prefix, prefix] as const));
  const closed = input.guarded.map((prefix): Closed => {
    const inside = open.within(prefix).map(([hole]) => hole);
    return { prefix, rest: subtractPrefixes([prefix], inside) };
  });
  const prefixes = mergePrefixes(closed.flatMap(({ rest }) => rest));
  if (input.topology.leader) return { prefixes, routes: [], rules: [] };
  const left = closed.filter(({ rest }) => rest.length > 0).map(({ prefix }) => prefix);
  return { prefixes, routes: prefixes.map(unreachableForPods), rules: podRules(input, left) };
}

interface Closed {
  readonly prefix: Prefix;
  /** What of it is not open. */
  readonly rest: readonly Prefix[];
}

function openPrefixes({ hostname, facts, topology, options, underlay, routes }: GuardInput): Prefix[] {
  const own = facts.nodes.find(({ name }) => name === hostname);
  const isNear = (node: NodeFacts) =>
    own !== undefined && neighbourhood(node, topology) === neighbourhood(own, topology);
  const near = facts.nodes.filter(isNear);
  const carriedByCni = options.local ? [] : near.flatMap(({ podCIDRs }) => podCIDRs);
  const nearIPs = near
    .flatMap(({ internalIPs }) => internalIPs)
    .filter(({ address }) => !isLocal(address))
    .map(({ address }) => hostPrefix(address));
  return [
    ...routes.filter(({ table }) => table === MAIN_TABLE).map(({ destination }) => destination),
    ...underlay.local,
    ...(own?.podCIDRs ?? []),
    ...carriedByCni,
    ...nearIPs,
    ...facts.nodes.flatMap(contactAddresses).map(hostPrefix),
  ];
}

function unreachableForPods(destination: Prefix): Route {
  return { kind: "unreachable", destination, table: POLICY_TABLE, metric: UNREACHABLE_METRIC };
}

function podRules({ hostname, facts }: GuardInput, prefixes: readonly Prefix[]): Rule[] {
  const podCIDRs = facts.nodes.find(({ name }) => name === hostname)?.podCIDRs ?? [];
  return podCIDRs.flatMap((from) => {
    const sameFamily = prefixes.filter(({ family }) => family === from.family);
    return sameFamily.map((to) => ({ priority: RULE_PRIORITY, from, to, table: POLICY_TABLE }));
  });
}
