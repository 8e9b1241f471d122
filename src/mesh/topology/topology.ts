/** Kilo's topology (kilo.md §5), and what goes beyond it when all agents are ours. The first of the two steps: conflicts stay in it. */
import {
  type Address,
  hostPrefix,
  type InterfaceAddress,
  interfaceAddress,
  networkOf,
  type Prefix,
  uniquePrefixes,
} from "../../ip/index.ts";
import type { SocketEndpoint } from "../../wireguard/index.ts";
import type { DiscoveredEndpoint } from "../facts/discovered-endpoints.ts";
import type { ReadyNode, ReadyPeer } from "../facts/readiness.ts";
import type { LearnedEndpoint, Resolve } from "../options.ts";
import { type DroppedLocationIP, filterLocationIPs } from "./allowed-location-ips.ts";
import { EndpointBook } from "./endpoints.ts";
import { electLeader } from "./leader.ts";
import { tunnelAddress } from "./numbering.ts";
import { compareBytes } from "./order.ts";
import { deduplicatePeers, type ExternalPeer } from "./peers.ts";
import { groupBySegment, neighbourhood, type SegmentRules } from "./segments.ts";

export interface TopologyInput extends SegmentRules {
  readonly hostname: string;
  readonly subnet: Prefix;
  readonly now: number;
  readonly nodes: readonly ReadyNode[];
  readonly peers: readonly ReadyPeer[];
  readonly learned: readonly LearnedEndpoint[];
  readonly resolve: Resolve;
}

/** A group of nodes and the one of them that leads its tunnels. */
export interface Segment {
  readonly name: string;
  /** Segments of one neighbourhood reach each other without a tunnel. Only in `cross` is it more than one segment. */
  readonly neighbourhood: string;
  /** Sorted by name. */
  readonly members: readonly ReadyNode[];
  readonly leader: ReadyNode;
  readonly tunnelAddress: Address;
  /** Pod CIDR and internal IP of each member in turn, then the tunnel address: what other leaders send here. Contract. */
  readonly allowedIPs: readonly Prefix[];
  /** Filtered (§5.5), in order of their texts. */
  readonly allowedLocationIPs: readonly Prefix[];
  /** Its leader is behind NAT, and nobody has heard of it yet: what it announces is no way to it. */
  readonly isHidden: boolean;
  /** Where its leader is reached: discovered or announced. Undefined: wait to be contacted. */
  readonly endpoint?: SocketEndpoint | undefined;
}

export interface Topology extends SegmentRules {
  readonly hostname: string;
  readonly subnet: Prefix;
  /** Sorted by name. */
  readonly segments: readonly Segment[];
  /** The segment of this host; undefined while the host takes no part. */
  readonly own?: Segment | undefined;
  /** This host's node; undefined while it takes no part. */
  readonly ownNode?: ReadyNode | undefined;
  /** Whether this host leads its segment. */
  readonly leader: boolean;
  /** The address of the WireGuard link, with the subnet's length; undefined on a host that leads no segment. */
  readonly wireguardIP?: InterfaceAddress | undefined;
  /** External Peers, sorted by name. */
  readonly peers: readonly (ExternalPeer & {
    /** Discovered or announced. Undefined: wait to be contacted. */
    readonly endpoint?: SocketEndpoint | undefined;
  })[];
  readonly droppedLocationIPs: readonly DroppedLocationIP[];
  /** Segments for which the subnet has no address left. */
  readonly unnumbered: readonly string[];
}

/** Builds the topology as this host sees it. The same facts in any order give the same topology. */
export function buildTopology(input: TopologyInput): Topology {
  const groups = groupBySegment(input.nodes, input);
  const endpoints = new EndpointBook({ ...input, published: publishedEndpoints(groups, input) });
  const peers = deduplicatePeers(input.peers);
  const numbered = numberSegments(groups, input);
  const locationIPs = filterOf(numbered, peers, input.subnet);

  const segments = numbered.map((draft, i) => completeSegment(draft, locationIPs.kept[i] ?? [], endpoints));
  const own = segments.find(({ members }) => members.some(({ name }) => name === input.hostname));
  const ownNode = own?.members.find(({ name }) => name === input.hostname);
  const leader = own !== undefined && own.leader === ownNode;
  return {
    granularity: input.granularity,
    mode: input.mode,
    hostname: input.hostname,
    subnet: input.subnet,
    segments,
    own,
    ownNode,
    leader,
    wireguardIP: own && leader ? interfaceAddress(own.tunnelAddress, input.subnet.length) : undefined,
    peers: peers.map((peer) => ({ ...peer, endpoint: endpointOf(peer, endpoints) })),
    droppedLocationIPs: locationIPs.dropped,
    unnumbered: [...groups.keys()].slice(numbered.length),
  };
}

/** Of what the own node says, that which its device does not know better: it may have been written before the session died. */
function publishedEndpoints(
  groups: ReadonlyMap<string, readonly ReadyNode[]>,
  { hostname, learned }: TopologyInput,
): (readonly DiscoveredEndpoint[])[] {
  const known = new Set(learned.map(({ publicKey }) => publicKey));
  return [...groups.values()].flat().map(({ name, discoveredEndpoints }) => {
    if (name !== hostname) return discoveredEndpoints;
    return discoveredEndpoints.filter(({ publicKey }) => !known.has(publicKey));
  });
}

type Draft = Pick<Segment, "name" | "neighbourhood" | "members" | "leader" | "tunnelAddress">;

/** Stops where the subnet ends: who sorts behind has no address. */
function numberSegments(groups: ReadonlyMap<string, ReadyNode[]>, input: TopologyInput): Draft[] {
  const drafts: Draft[] = [];
  for (const [name, members] of groups) {
    const address = tunnelAddress(input.subnet, drafts.length + 1, input.mode);
    if (address === undefined) break;
    const leader = electLeader(members, input.mode, input.resolve);
    drafts.push({
      name,
      neighbourhood: neighbourhood(leader, input),
      members,
      leader,
      tunnelAddress: address,
    });
  }
  return drafts;
}

function filterOf(drafts: readonly Draft[], peers: readonly ExternalPeer[], subnet: Prefix) {
  const wanted = drafts.map(({ name, members }) => ({
    name,
    ownPrefixes: members.flatMap(memberPrefixes),
    wanted: uniquePrefixes(members.flatMap((node) => node.allowedLocationIPs)).sort((a, b) =>
      compareBytes(a.text, b.text),
    ),
  }));
  const taken = peers.flatMap(({ name, allowedIPs }) => {
    return allowedIPs.map((written) => ({ peer: name, prefix: networkOf(written) }));
  });
  return filterLocationIPs(wanted, subnet, taken);
}

function completeSegment(
  draft: Draft,
  allowedLocationIPs: readonly Prefix[],
  endpoints: EndpointBook,
): Segment {
  const { leader, members } = draft;
  return {
    ...draft,
    allowedIPs: [...members.flatMap(memberPrefixes), hostPrefix(draft.tunnelAddress)],
    allowedLocationIPs,
    isHidden: leader.persistentKeepalive > 0 && !endpoints.isDiscovered(leader.publicKey),
    endpoint: endpoints.effective({ ...leader, announced: leader.endpoints[0] }),
  };
}

function endpointOf({ facts }: ExternalPeer, endpoints: EndpointBook): SocketEndpoint | undefined {
  return endpoints.effective({ ...facts, announced: facts.endpoint, internalIPs: [] });
}

/** What belongs to a node: its pod CIDRs, then its internal IPs as host prefixes. */
export function memberPrefixes(node: ReadyNode): Prefix[] {
  return [...node.podCIDRs, ...node.internalIPs.map(({ address }) => hostPrefix(address))];
}
