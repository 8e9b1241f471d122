/** Scenario: what a lab is made of, as a short typed description. `makeBlueprint` turns one into namespaces and links. */

export interface Scenario {
  /** Letters, digits and dashes. */
  readonly name: string;
  /** LANs with the hosts in them: clouds, data centres, homes. */
  readonly places?: readonly Place[] | undefined;
  /** Hosts that are attached to the internet only. */
  readonly hosts?: readonly HostSpec[] | undefined;
}

/** A LAN: a bridge in a router's namespace. Without `nat` the router has no uplink, and only hosts with a `public` address reach the internet. */
export interface Place {
  readonly name: string;
  /** IPv4 prefix of the LAN, /24 or longer, e.g. `10.1.0.0/24`. The router is its first address; hosts count from the eleventh. */
  readonly lan: string;
  readonly nat?: Nat | undefined;
  /** Region label of the nodes here; `null` for none. @default the name of the place */
  readonly location?: string | null | undefined;
  readonly hosts: readonly HostSpec[];
}

/** How a place's router hides its LAN: stateful, nothing comes in unasked but what `forwards` and `oneToOne` name. */
export interface Nat {
  /** Public IPv4 address of the router. */
  readonly address: string;
  /**
   * `preserve`: a flow keeps its source port where it is free, for every destination (the usual home router);
   * `random`: another port for every destination (symmetric; hole punching fails). @default "preserve"
   */
  readonly ports?: "preserve" | "random" | undefined;
  /** UDP ports of the public address that lead to a host of the place. */
  readonly forwards?: readonly { readonly port: number; readonly host: string }[] | undefined;
  /** Further public addresses, each of which stands for one host in both directions (as clouds do). */
  readonly oneToOne?: readonly { readonly address: string; readonly host: string }[] | undefined;
  /** MTU of the uplink in bytes. @default 1500 */
  readonly mtu?: number | undefined;
}

export interface HostSpec {
  /** At most 15 characters, the most that a link's name may have. */
  readonly name: string;
  /** Public IPv4 address, on the host's own uplink. */
  readonly public?: string | undefined;
  /** Address in the LAN of its place. @default the next free one from the eleventh */
  readonly private?: string | undefined;
  /** MTU of the host's links in bytes. @default 1500 */
  readonly mtu?: number | undefined;
  /** What the host is. None: a plain machine. */
  readonly role?: HostRole | undefined;
}

export type HostRole = NodeRole | PeerRole | ControlPlaneRole;

/** A Kubernetes node: gets a Node object and runs `kg`. */
export interface NodeRole {
  readonly kind: "node";
  readonly podCIDR: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** An external peer: gets a Peer object without endpoint, and runs `wireguard-go` with what `kg plan --peer` prints. */
export interface PeerRole {
  readonly kind: "peer";
  /** The first one, without its length, is the peer's own address in the mesh. */
  readonly allowedIPs: readonly string[];
  /** Seconds. @default 0, off */
  readonly persistentKeepalive?: number | undefined;
}

/** Runs the embedded API server. One in a scenario at the most; needs a public address. */
export interface ControlPlaneRole {
  readonly kind: "control-plane";
}
