/** What must be the same on every agent of a mesh (kilo.md §0, item 10), and what is this host's own. */
import type { Address, Prefix } from "../ip/index.ts";
import type { PublicKey, SecretKey, SocketEndpoint } from "../wireguard/index.ts";
import type { NodeObject, PeerObject } from "./objects.ts";

export type Granularity = "location" | "full" | "cross";
export type Encapsulation = "never" | "crosssubnet" | "always";
/** Whose overlay carries packets inside a location: none (IPIP or plain), flannel's or Cilium's. */
export type Compatibility = "none" | "flannel" | "cilium";

export interface MeshOptions {
  /** Pool of tunnel addresses. @default 10.4.0.0/16 */
  readonly subnet: Prefix;
  /** @default "location" */
  readonly granularity: Granularity;
  /** @default "always" (Kilo's); the driver serves `never` only for now */
  readonly encapsulate: Encapsulation;
  /** @default "none" */
  readonly compatibility: Compatibility;
  /** Manage routes inside the own location. @default true */
  readonly local: boolean;
  /** Node label that names the location. @default "topology.kubernetes.io/region" */
  readonly topologyLabel: string;
  /** Port of endpoints that this host publishes. @default 51820 */
  readonly port: number;
  /** Destinations that are not masqueraded besides the mesh's own. @default [] */
  readonly serviceCIDRs: readonly Prefix[];
  /** Manage the CNI file, and masquerade own pods. @default true */
  readonly cni: boolean;
  /** Route internal IPs of other locations through the mesh (report K-45). Refused (kept true, with a problem) in a mixed mesh. @default true */
  readonly routeInternalIP: boolean;
}

/** What this host knows of itself, beside its Node object. `kg plan` leaves most of it out. */
export interface OwnHost {
  readonly publicKey?: PublicKey | undefined;
  readonly privateKey?: SecretKey | undefined;
  /** MTU of the mesh link in bytes (kilo.md §9.3); pods get the same. */
  readonly mtu: number;
  /** Endpoints that the own device learned, with the time of the handshake. */
  readonly learned: readonly LearnedEndpoint[];
  /** Addresses that are assigned to links of this host; undefined when unknown. Bounds `source` of routes (B11). */
  readonly addresses?: readonly Address[] | undefined;
  /** Prefixes that stand on links of this host other than its mesh links: what lies in them is reached by the longer match. @default [] */
  readonly connected?: readonly Prefix[] | undefined;
  /** Addresses of the API server, where they are known. No Peer's route may take this host's way to them. @default [] */
  readonly apiServer?: readonly Address[] | undefined;
}

export interface LearnedEndpoint {
  readonly publicKey: PublicKey;
  readonly endpoint: SocketEndpoint;
  /** Unix seconds. */
  readonly latestHandshake: number;
  /** Unix seconds, when the device was last seen to have received more than before. @default unknown: as long as the session lives */
  readonly heardAt?: number | undefined;
}

/**
 * How fresh our own view is (design, "Freshness"). Nodes that were fresh at `gapStart`, when the API server was last heard or the own
 * agent last ran, have until 60 s after `listedAt`, the list after it, to check in again. Both in Unix seconds.
 */
export interface WatchGap {
  readonly gapStart: number;
  readonly listedAt: number;
}

/**
 * What the own watch heard: by node name, when its `last-seen` was last heard to change, in Unix seconds of this host's clock. Not when it
 * was first listed: that says nothing of the present.
 */
export type CheckIns = ReadonlyMap<string, number>;

export interface PlanInput {
  readonly hostname: string;
  /** Unix seconds. */
  readonly now: number;
  readonly nodes: readonly NodeObject[];
  readonly peers: readonly PeerObject[];
  readonly options: MeshOptions;
  readonly own: OwnHost;
  readonly gap?: WatchGap | undefined;
  /**
   * Unix seconds at which our own watch of nodes last heard the API server. Freshness is judged at this time: while nothing is heard, nobody
   * becomes stale, and nobody who was stale comes back. @default now
   */
  readonly heardAt?: number | undefined;
  /**
   * When all agents are ours a node is fresh by when it was heard to check in, so that a wrong clock empties nobody's mesh (report S-13).
   * Kilo's agents compare clocks, and a mixed mesh does too. @default nothing was heard, clocks are compared
   */
  readonly checkIns?: CheckIns | undefined;
  readonly resolve: Resolve;
}

/** The last known addresses of a DNS name, best first; undefined or empty while unresolved. */
export type Resolve = (name: string) => readonly Address[] | undefined;
