/** The plan of one host: what it shall have, what it shall publish, and what is wrong. */
import type { InterfaceAddress } from "../../ip/index.ts";
import type { PublicKey } from "../../wireguard/index.ts";
import { type DiscoveredEndpoint, publishableEndpoints } from "../facts/discovered-endpoints.ts";
import { type MeshFacts, readMesh } from "../facts/mesh.ts";
import type { Mode } from "../facts/mode.ts";
import type { CniState, HostState, MeshLink } from "../host-state.ts";
import type { Granularity, MeshOptions, PlanInput } from "../options.ts";
import { type Problem, sortProblems } from "../problems.ts";
import { wantedRouting } from "../topology/routes.ts";
import { buildTopology, type Topology } from "../topology/topology.ts";
import { planDevice } from "./device.ts";
import { planFirewall } from "./firewall.ts";
import { guardForwarded } from "./guard.ts";
import { nameProblems, type UnresolvedName, unresolvedNames } from "./names.ts";
import {
  type NestedPrefix,
  nestedPrefixes,
  peerOverlaps,
  sharedEndpoints,
  subnetOverlaps,
} from "./overlaps.ts";
import { type Ownership, resolveOwners } from "./ownership.ts";
import { ownHostProblems, topologyProblems } from "./reports.ts";
import { hostRouting } from "./routes.ts";
import { tunnelLink } from "./tunnel.ts";
import { Underlay } from "./underlay.ts";
import { closePrefixes } from "./unreachable.ts";

export interface Plan {
  readonly state: HostState;
  readonly mode: Mode;
  readonly topology: Topology;
  /** Whether this host leads its segment. */
  readonly leader: boolean;
  /** Whether this host takes part. If not, `problems` say why, and `state` has only what fails closed. */
  readonly ready: boolean;
  /** Sorted; the same on every host for the same objects, but for what only this host can see. */
  readonly problems: readonly Problem[];
  /** Decisions that hang on names without address. */
  readonly unresolved: readonly UnresolvedName[];
  /** Prefixes inside others': both stay, the longest match wins. */
  readonly nested: readonly NestedPrefix[];
  /** Who takes part. */
  readonly counts: { readonly nodes: number; readonly peers: number };
  readonly published: PublishedByPlan;
}

/** What the own node's annotations say of a plan. */
export interface PublishedByPlan {
  /** Undefined on a host that leads no segment. */
  readonly wireguardIP?: InterfaceAddress | undefined;
  readonly discoveredEndpoints: readonly DiscoveredEndpoint[];
  readonly granularity: Granularity;
}

/** Plans one host. Pure: the same input gives the same plan, in whatever order its objects come. */
export function planHost(input: PlanInput): Plan {
  const { facts, options, topology, ownership, problems } = resolveMesh(input);
  const ownAddresses = [
    ...(topology.ownNode?.internalIPs ?? []).map(({ address }) => address),
    ...(input.own.addresses ?? []),
  ];
  const underlay = new Underlay(topology, input.own);
  const routing = hostRouting(wantedRouting(topology, options), {
    ownership,
    ownAddresses,
    assigned: input.own.addresses,
    underlay,
  });
  const { hostname } = input;
  const { refused } = routing;
  const closed = closePrefixes({ facts, hostname, options, underlay, refused });
  const guard = guardForwarded({
    hostname,
    facts,
    topology,
    options,
    underlay,
    routes: routing.routes,
    guarded: closed.guarded,
  });
  const unresolved = unresolvedNames(topology, input.resolve);
  const state: HostState = {
    mesh: meshLink(topology, ownership, input),
    tunnel: tunnelLink(topology, options, input.own),
    routes: [...routing.routes, ...closed.routes, ...guard.routes],
    rules: [...routing.rules, ...guard.rules],
    firewall: planFirewall({
      hostname,
      facts,
      topology,
      claims: ownership.claims,
      routes: routing.routes,
      options,
      guarded: guard.prefixes,
    }),
    cni: cniState(facts, input),
  };
  return {
    state,
    mode: facts.mode,
    topology,
    leader: topology.leader,
    ready: topology.own !== undefined,
    problems: sortProblems([
      ...problems,
      ...routing.problems,
      ...nameProblems(unresolved),
      ...ownHostProblems(facts, topology, input),
    ]),
    unresolved,
    nested: nestedPrefixes(ownership.claims),
    counts: { nodes: facts.readyNodes.length, peers: facts.readyPeers.length },
    published: {
      wireguardIP: topology.wireguardIP,
      discoveredEndpoints: publishableEndpoints(input.own.learned, roamingKeys(topology), input.now),
      granularity: options.granularity,
    },
  };
}

/** Both steps up to the point where plans of hosts and of laptops part. */
export function resolveMesh(input: PlanInput) {
  const facts = readMesh(input);
  const { hostname, now, own, resolve } = input;
  const options = effectiveOptions(input.options, facts.mode);
  const topology = buildTopology({
    hostname,
    now,
    resolve,
    mode: facts.mode,
    granularity: options.granularity,
    subnet: options.subnet,
    nodes: facts.readyNodes,
    peers: facts.readyPeers,
    learned: own.learned,
  });
  const ownership = resolveOwners(topology, options);
  const problems = [
    ...facts.problems,
    ...topologyProblems(topology),
    ...ownership.problems,
    ...sharedEndpoints(topology),
    ...peerOverlaps(ownership.claims, options.subnet),
    ...subnetOverlaps(ownership.claims, options),
  ];
  return { facts, options, topology, ownership, problems };
}

/** The options as this mesh can serve them. Kilo's agents send to internal IPs through the mesh, so a mixed one must carry them (report K-45). */
function effectiveOptions(options: MeshOptions, mode: Mode): MeshOptions {
  return { ...options, routeInternalIP: options.routeInternalIP || mode === "kilo" };
}

function meshLink(
  topology: Topology,
  ownership: Ownership,
  { own, options }: PlanInput,
): MeshLink | undefined {
  if (topology.own === undefined) return undefined;
  return {
    up: topology.leader,
    mtu: own.mtu,
    addresses: topology.wireguardIP === undefined ? [] : [topology.wireguardIP],
    device: planDevice(topology, ownership, { own, port: options.port }),
  };
}

function cniState({ nodes }: MeshFacts, { hostname, options, own }: PlanInput): CniState | undefined {
  const ranges = nodes.find(({ name }) => name === hostname)?.podCIDRs ?? [];
  return options.cni && ranges.length > 0 ? { ranges, mtu: own.mtu } : undefined;
}

/** Whose endpoints may change: what this host hears of them is news to others. */
function roamingKeys({ segments, peers }: Topology): ReadonlyMap<PublicKey, number> {
  const owners = [...segments.flatMap(({ members }) => members), ...peers.map(({ facts }) => facts)];
  const roaming = owners.filter(({ persistentKeepalive }) => persistentKeepalive > 0);
  return new Map(roaming.map(({ publicKey, persistentKeepalive }) => [publicKey, persistentKeepalive]));
}
