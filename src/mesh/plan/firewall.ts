/** What the firewall has to know (kilo.md §7.2, reports K-42 and K-46; design, "Fail closed"). The rules around the sets are fixed. */
import { hostPrefix, isLocal, mergePrefixes, type Prefix } from "../../ip/index.ts";
import type { MeshFacts } from "../facts/mesh.ts";
import { contactAddresses, type NodeFacts } from "../facts/node.ts";
import type { Firewall, LinkRole, Route } from "../host-state.ts";
import { MAIN_TABLE } from "../names.ts";
import type { MeshOptions } from "../options.ts";
import { neighbourhood } from "../topology/segments.ts";
import type { Topology } from "../topology/topology.ts";
import { nearSegments } from "../topology/tunnels.ts";
import type { Claim } from "./claims.ts";
import { isSegment } from "./keys.ts";

export interface FirewallInput {
  readonly hostname: string;
  readonly facts: MeshFacts;
  readonly topology: Topology;
  /** The claims that stand. */
  readonly claims: readonly Claim[];
  /** The host's unicast routes. */
  readonly routes: readonly Route[];
  /** As the mesh can serve them (see `resolveMesh`). */
  readonly options: MeshOptions;
  /** What is closed without a route (see `guardForwarded`). */
  readonly guarded: readonly Prefix[];
}

/** The sets of a host. A host that takes no part has them too, but guards nothing. */
export function planFirewall(input: FirewallInput): Firewall {
  const place = new Place(input);
  return {
    sets: {
      masquerade_from: mergePrefixes([...place.ownPods(), ...place.ofPeers()]),
      keep_source: mergePrefixes(place.known()),
      location_ips: mergePrefixes(input.topology.own?.allowedLocationIPs ?? []),
      location_nodes: mergePrefixes(place.nearInternalIPs()),
      remote_internal: mergePrefixes(place.remoteInternalIPs()),
    },
    remoteInternalLink: place.guardLink(),
  };
}

class Place {
  readonly #input: FirewallInput;
  readonly #routed: ReadonlyMap<string, Route>;
  readonly #own: NodeFacts | undefined;
  readonly #isNear: (node: NodeFacts) => boolean;

  constructor(input: FirewallInput) {
    this.#input = input;
    this.#own = input.facts.nodes.find(({ name }) => name === input.hostname);
    const ownNeighbourhood = this.#own && neighbourhood(this.#own, input.topology);
    this.#isNear = (node) => neighbourhood(node, input.topology) === ownNeighbourhood;
    const main = input.routes.filter(({ table }) => table === MAIN_TABLE);
    this.#routed = new Map(main.map((route) => [route.destination.text, route]));
  }

  ownPods(): readonly Prefix[] {
    return this.#input.options.cni ? (this.#own?.podCIDRs ?? []) : [];
  }

  /** Never a default route: it would masquerade what the host only forwards for others. */
  ofPeers(): Prefix[] {
    return this.#claimed((claim) => claim.kind === "allowed IP" && claim.prefix.length > 0);
  }

  /**
   * Destinations that see the true source: N2, N5, N6 and N9 of kilo.md §7.2, and other locations' allowed-location-ips, which are
   * masqueraded once, where they are (K-42). Not what this host has no way to through the mesh, such as an internal IP that is also its
   * node's endpoint (B59): there a pod's address would leave in clear, and the answer would find no way back.
   */
  known(): Prefix[] {
    const { topology, options } = this.#input;
    const near = new Set(nearSegments(topology));
    const claimed = this.#claimed(({ prefix, kind, holder }) => {
      if (isSegment(holder) && near.has(holder)) return kind !== "allowed-location-ip";
      return this.#routed.has(prefix.text);
    });
    return [options.subnet, ...options.serviceCIDRs, ...claimed, ...this.nearInternalIPs()];
  }

  /** Internal IPs of the own location's nodes, alive or not: with the API server away they still have to reach each other (K-46). */
  nearInternalIPs(): Prefix[] {
    return this.#internalIPs(this.#isNear);
  }

  /**
   * Internal IPs of other locations that are reached through the mesh, and those of nodes that take no part right now or are hidden
   * behind NAT: what pods send to them must not leave in clear instead. An address at which a node is contacted directly is none of them.
   * Besides, all prefixes of the mesh that no `unreachable` route closes.
   */
  remoteInternalIPs(): Prefix[] {
    if (this.guardLink() === undefined) return [];
    const { segments } = this.#input.topology;
    const reachable = segments.filter(({ isHidden }) => !isHidden);
    const ready = new Set(reachable.flatMap(({ members }) => members.map(({ name }) => name)));
    const direct = new Set(this.#input.facts.nodes.flatMap(contactAddresses).map(({ text }) => text));
    const near = new Set(this.nearInternalIPs().map(({ text }) => text));
    const ofReady = this.#claimed(
      ({ kind, prefix }) => kind === "internal IP" && this.#routed.has(prefix.text),
    );
    const absent = this.#input.options.routeInternalIP
      ? this.#internalIPs((node) => !ready.has(node.name) && !this.#isNear(node))
      : [];
    const internalIPs = [...ofReady, ...absent.filter(({ base }) => !direct.has(base.text))];
    return [...internalIPs.filter(({ text }) => !near.has(text)), ...this.#input.guarded];
  }

  /** The link by which this host reaches other locations. */
  guardLink(): LinkRole | undefined {
    const { topology } = this.#input;
    if (topology.own === undefined) return undefined;
    if (topology.leader) return "mesh";
    const toOwnLeader = this.#routed.get(hostPrefix(topology.own.tunnelAddress).text);
    return toOwnLeader?.link ?? "private";
  }

  #claimed(isWanted: (claim: Claim) => boolean): Prefix[] {
    return this.#input.claims.filter(isWanted).map(({ prefix }) => prefix);
  }

  #internalIPs(isWanted: (node: NodeFacts) => boolean): Prefix[] {
    const wanted = this.#input.facts.nodes.filter(isWanted).flatMap(({ internalIPs }) => internalIPs);
    return wanted.filter(({ address }) => !isLocal(address)).map(({ address }) => hostPrefix(address));
  }
}
