/**
 * Kilo's routes and policy rules (kilo.md §6.4, §6.5), complete and as written: conflicts and host bits are still in them. Links are
 * named by role. Both families by the same rules: a gateway or source of the other family is never used (B10).
 */
import {
  type Address,
  containsAddress,
  type Family,
  hostPrefix,
  type InterfaceAddress,
  interfaceAddress,
  type Prefix,
} from "../../ip/index.ts";
import type { ReadyNode } from "../facts/readiness.ts";
import type { LinkRole } from "../host-state.ts";
import { MAIN_TABLE, POLICY_TABLE } from "../names.ts";
import { gatewayOf, internalIPOf, isEncapsulated, type LocationRules } from "./gateways.ts";
import type { Segment, Topology } from "./topology.ts";
import { nearSegments, tunnelledSegments } from "./tunnels.ts";

/** Whose addresses a route leads to. */
export interface RouteOwner {
  readonly kind: "Node" | "Peer";
  readonly name: string;
}

export interface WantedRoute {
  readonly destination: InterfaceAddress;
  readonly link: LinkRole;
  readonly gateway?: Address | undefined;
  readonly source?: Address | undefined;
  readonly table: number;
  readonly owner: RouteOwner;
  /** The address to which the tunnel behind this route sends its own packets, where it is known. */
  readonly tunnelEndpoint?: Address | undefined;
}

export interface WantedRule {
  readonly from?: Prefix | undefined;
  readonly to: Prefix;
  readonly inputLink?: LinkRole | undefined;
  readonly table: number;
}

export interface WantedRouting {
  readonly routes: readonly WantedRoute[];
  readonly rules: readonly WantedRule[];
}

/** The routing of this host; empty while it takes no part. */
export function wantedRouting(topology: Topology, rules: LocationRules): WantedRouting {
  const { own, ownNode } = topology;
  if (own === undefined || ownNode === undefined) return { routes: [], rules: [] };
  const router = new Router(topology, own, ownNode, rules);
  if (topology.leader) router.routeAsLeader();
  else router.routeThroughLeader();
  return router;
}

class Router implements WantedRouting {
  readonly routes: WantedRoute[] = [];
  readonly rules: WantedRule[] = [];
  readonly #topology: Topology;
  readonly #own: Segment;
  readonly #node: ReadyNode;
  readonly #location: LocationRules;

  constructor(topology: Topology, own: Segment, node: ReadyNode, location: LocationRules) {
    this.#topology = topology;
    this.#own = own;
    this.#node = node;
    this.#location = location;
  }

  /** §6.4: everything outside the own segment goes to the leader. */
  routeThroughLeader(): void {
    const { segments, peers } = this.#topology;
    for (const segment of segments) {
      const endpoint = segment.endpoint?.address;
      this.#addThroughLeader(
        asWritten(hostPrefix(segment.tunnelAddress)),
        nodeOwner(segment.leader),
        endpoint,
      );
      if (segment === this.#own) continue;
      for (const { prefix, owner } of segmentPrefixes(segment)) {
        this.#addThroughLeader(asWritten(prefix), owner, endpoint);
      }
    }
    for (const peer of peers) {
      for (const allowedIP of peer.allowedIPs) {
        this.#addThroughLeader(allowedIP, peerOwner(peer.name), peer.endpoint?.address);
      }
    }
    if (this.#location.local) this.#addNeighbours();
  }

  /** §6.5: other segments through their tunnels, external Peers straight into the WireGuard link. */
  routeAsLeader(): void {
    for (const segment of tunnelledSegments(this.#topology)) {
      for (const { prefix, owner, isInternalIP } of segmentPrefixes(segment)) {
        const endpoint = segment.endpoint?.address;
        if (isInternalIP && endpoint !== undefined && containsAddress(prefix, endpoint)) continue;
        this.#addTunnel(asWritten(prefix), owner, segment.tunnelAddress, endpoint);
      }
    }
    for (const peer of this.#topology.peers) {
      for (const allowedIP of peer.allowedIPs) {
        this.#addTunnel(allowedIP, peerOwner(peer.name), undefined, peer.endpoint?.address);
      }
    }
    if (this.#node.internalIPs.length === 0) return;
    if (this.#location.local) this.#addNeighbours();
    else this.#addOverlayNeighbours();
    if (this.#topology.mode === "kilomesh") this.#addNearTunnelAddresses();
  }

  /** Pod CIDRs of the own location's other nodes, and their internal IPs where packets to them are encapsulated. */
  #addNeighbours(): void {
    for (const node of this.#neighbours()) {
      for (const prefix of node.podCIDRs) {
        this.#addInLocation(asWritten(prefix), nodeOwner(node), this.#gateway(node, prefix.family));
      }
      for (const { address } of node.internalIPs) {
        const isWrapped = isEncapsulated(this.#node, address, this.#location.encapsulate);
        if (isWrapped) this.#addEncapsulatedNode(node, address);
      }
    }
  }

  /** Without `local` a leader encapsulates only what comes out of tunnels, where the CNI's overlay has gateways of its own. */
  #addOverlayNeighbours(): void {
    if (this.#location.encapsulate === "never") return;
    for (const node of this.#neighbours()) {
      for (const { address } of node.internalIPs) {
        const gateway = this.#gateway(node, address.family);
        if (gateway === undefined || gateway.text === address.text) continue;
        this.#addPolicyRoute(node, address, gateway, undefined);
        this.rules.push({ to: hostPrefix(address), inputLink: "mesh", table: POLICY_TABLE });
      }
    }
  }

  /** In `cross`, tunnel addresses of the own location lie behind no tunnel: they are reached like the nodes themselves. */
  #addNearTunnelAddresses(): void {
    for (const { leader, tunnelAddress } of this.#nearSegments()) {
      if (leader.internalIPs.length === 0) continue;
      const destination = asWritten(hostPrefix(tunnelAddress));
      this.#addInLocation(destination, nodeOwner(leader), this.#gateway(leader, tunnelAddress.family));
    }
  }

  #addEncapsulatedNode(node: ReadyNode, address: Address): void {
    const to = hostPrefix(address);
    const from = this.#node.podCIDRs.find((prefix) => prefix.family === address.family);
    this.#addPolicyRoute(node, address, this.#gateway(node, address.family), this.#source(address.family));
    if (from !== undefined) this.rules.push({ from, to, table: POLICY_TABLE });
    if (this.#topology.leader) this.rules.push({ to, inputLink: "mesh", table: POLICY_TABLE });
  }

  #addPolicyRoute(
    node: ReadyNode,
    address: Address,
    gateway: Address | undefined,
    source: Address | undefined,
  ): void {
    const destination = asWritten(hostPrefix(address));
    this.routes.push({
      destination,
      link: "tunnel",
      gateway,
      source,
      table: POLICY_TABLE,
      owner: nodeOwner(node),
    });
  }

  #addThroughLeader(destination: InterfaceAddress, owner: RouteOwner, tunnelEndpoint?: Address): void {
    const gateway = this.#gateway(this.#own.leader, destination.address.family);
    this.#addInLocation(destination, owner, gateway, tunnelEndpoint);
  }

  /** Leaves out what has no gateway of its family: on a shared link nobody would answer for it. */
  #addInLocation(
    destination: InterfaceAddress,
    owner: RouteOwner,
    gateway: Address | undefined,
    tunnelEndpoint?: Address,
  ): void {
    if (gateway === undefined) return;
    const isEncapsulating = isEncapsulated(this.#node, gateway, this.#location.encapsulate);
    const link = isEncapsulating ? "tunnel" : "private";
    const source = isEncapsulating ? this.#source(gateway.family) : undefined;
    this.routes.push({ destination, link, gateway, source, table: MAIN_TABLE, owner, tunnelEndpoint });
  }

  #addTunnel(
    destination: InterfaceAddress,
    owner: RouteOwner,
    gateway: Address | undefined,
    tunnelEndpoint: Address | undefined,
  ): void {
    const { family } = destination.address;
    this.routes.push({
      destination,
      link: "mesh",
      gateway: gateway?.family === family ? gateway : undefined,
      source: this.#source(family),
      table: MAIN_TABLE,
      owner,
      tunnelEndpoint,
    });
  }

  /** The other nodes of the own location that have an internal IP. A node with this host's own internal IP is passed over, as Kilo does. */
  #neighbours(): ReadyNode[] {
    const ownIPs = new Set(this.#node.internalIPs.map(({ address }) => address.text));
    const members = nearSegments(this.#topology).flatMap((segment) => segment.members);
    const withInternalIP = members.filter((node) => node !== this.#node && node.internalIPs.length > 0);
    return withInternalIP.filter((node) =>
      node.internalIPs.every(({ address }) => !ownIPs.has(address.text)),
    );
  }

  #nearSegments(): Segment[] {
    return nearSegments(this.#topology).filter((segment) => segment !== this.#own);
  }

  #gateway(node: ReadyNode, family: Family): Address | undefined {
    return gatewayOf(node, family, this.#location.compatibility);
  }

  /** Packets of the host itself carry its internal IP through a tunnel, not the tunnel address (report K-33). */
  #source(family: Family): Address | undefined {
    return internalIPOf(this.#node, family);
  }
}

interface OwnedPrefix {
  readonly prefix: Prefix;
  readonly owner: RouteOwner;
  readonly isInternalIP: boolean;
}

/** What a segment carries besides its tunnel address, with the node each prefix belongs to. */
function segmentPrefixes(segment: Segment): OwnedPrefix[] {
  const members = segment.members.flatMap((node) => {
    const owner = nodeOwner(node);
    const pods = node.podCIDRs.map((prefix) => ({ prefix, owner, isInternalIP: false }));
    const internal = node.internalIPs.map(({ address }) => ({
      prefix: hostPrefix(address),
      owner,
      isInternalIP: true,
    }));
    return [...pods, ...internal];
  });
  const carriers = locationIPCarriers(segment);
  const locationIPs = segment.allowedLocationIPs.map((prefix) => {
    return { prefix, owner: nodeOwner(carriers.get(prefix.text) ?? segment.leader), isInternalIP: false };
  });
  return [...members, ...locationIPs];
}

/** For each allowed-location-ip, by its text, the first member that has it in its annotation. */
export function locationIPCarriers({ members }: Segment): Map<string, ReadyNode> {
  const carriers = new Map<string, ReadyNode>();
  for (const node of members) {
    for (const { text } of node.allowedLocationIPs) if (!carriers.has(text)) carriers.set(text, node);
  }
  return carriers;
}

function nodeOwner({ name }: ReadyNode): RouteOwner {
  return { kind: "Node", name };
}

function peerOwner(name: string): RouteOwner {
  return { kind: "Peer", name };
}

function asWritten(prefix: Prefix): InterfaceAddress {
  return interfaceAddress(prefix.base, prefix.length);
}
