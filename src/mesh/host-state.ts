/**
 * HostState: the one type of what a host has, or shall have. A plan is one; what the drivers read is one; `diffHost` compares two.
 *
 * Links are named by role, never by name or index, so that the same plan holds on every host and can be printed without one.
 */
import type { Address, InterfaceAddress, Prefix } from "../ip/index.ts";
import type { DeviceConfig, DeviceStatus } from "../wireguard/index.ts";

/** `mesh`: the WireGuard link. `private`: the link that carries the internal IP. `tunnel`: the encapsulation device. */
export type LinkRole = "mesh" | "private" | "tunnel";

/** Everything kg decides on a host. What is read holds only kg's own entries (by protocol, table, name), never foreign ones. */
export interface HostState {
  /** The WireGuard link. Read: undefined when it does not exist. Planned: undefined when the node takes no part in the mesh. */
  readonly mesh?: MeshLink | undefined;
  /** The encapsulation device. Only with a strategy other than `never`. */
  readonly tunnel?: TunnelLink | undefined;
  readonly routes: readonly Route[];
  readonly rules: readonly Rule[];
  /** Read: undefined when kg's table is missing or its fixed part was changed by somebody. */
  readonly firewall?: Firewall | undefined;
  /** Planned: undefined without `--cni`, or while the node has no pod CIDR. Read: undefined when the file is missing or unreadable. */
  readonly cni?: CniState | undefined;
}

export interface MeshLink {
  readonly up: boolean;
  /** Bytes. */
  readonly mtu: number;
  /** One of a family at the most; empty on a host that leads no segment. */
  readonly addresses: readonly InterfaceAddress[];
  /** A `DeviceStatus` when it was read. */
  readonly device: DeviceConfig | DeviceStatus;
}

export interface TunnelLink {
  readonly up: boolean;
  readonly mtu: number;
  readonly addresses: readonly InterfaceAddress[];
}

/** A route of kg's. Its identity is (table, destination, metric): adding one that exists replaces it. */
export interface Route {
  /** `unreachable` routes have neither link nor gateway and stand behind the others by their metric. */
  readonly kind: "unicast" | "unreachable";
  readonly destination: Prefix;
  readonly link?: LinkRole | undefined;
  /** With a gateway the route is always onlink. */
  readonly gateway?: Address | undefined;
  /** Preferred source address, of the destination's family. */
  readonly source?: Address | undefined;
  readonly table: number;
  /** 0 is the best. The driver maps 0 to the kernel's default of the family. */
  readonly metric: number;
}

/** A policy rule. Its identity is all of it. */
export interface Rule {
  readonly priority: number;
  readonly from?: Prefix | undefined;
  readonly to?: Prefix | undefined;
  readonly inputLink?: LinkRole | undefined;
  readonly table: number;
}

/** The sets of the firewall. What grows with the mesh is in them; the rules around them are fixed. */
export const SET_NAMES = [
  "masquerade_from",
  "keep_source",
  "location_ips",
  "location_nodes",
  "remote_internal",
] as const;

/**
 * - `masquerade_from`: sources whose packets to the outside are masqueraded (own pods, external peers)
 * - `keep_source`: destinations that see the true source (pods, nodes, tunnel addresses, peers, services)
 * - `location_ips`: own location's allowed-location-ips: packets to them are masqueraded
 * - `location_nodes`: sources that are never masqueraded towards `location_ips` (report K-46)
 * - `remote_internal`: internal IPs of other locations, and prefixes of the mesh that no `unreachable` route closes: forwarded packets to them leave by `remoteInternalLink` or not at all
 */
export type SetName = (typeof SET_NAMES)[number];

export interface Firewall {
  /** Each list is sorted and without overlaps (`mergePrefixes`); both families in one list. */
  readonly sets: Readonly<Record<SetName, readonly Prefix[]>>;
  /** The only link by which forwarded packets may leave to `remote_internal`. Undefined: no guard (node takes no part). */
  readonly remoteInternalLink?: LinkRole | undefined;
}

/** kg's part of the CNI file: ranges for host-local and the MTU of pods' links. */
export interface CniState {
  readonly ranges: readonly Prefix[];
  readonly mtu: number;
}
