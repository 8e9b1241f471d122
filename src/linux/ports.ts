/** The interfaces of this room: the host driver, and the drivers it is put together from. Each has an in-memory twin. */
import type { InterfaceAddress } from "../ip/index.ts";
import type { CniState, Firewall, FirewallChange, HostChanges, HostState, LinkRole } from "../mesh/index.ts";
import type { DeviceChange, DeviceStatus } from "../wireguard/index.ts";

/** Names of the links by role. `private` may change while the agent runs, so drivers ask each time they need one. */
export interface LinkNames {
  /** The name of the link with this role; undefined while there is none. */
  nameOf(role: LinkRole): string | undefined;
  /** The role of a link; undefined when it has none. */
  roleOf(name: string): LinkRole | undefined;
}

/** The WireGuard device, whoever serves it. It creates and removes its link; address, MTU and flags of the link are not its business. */
export interface DeviceDriver {
  /** `kernel`: the WireGuard module. `userspace`: a wireguard-go that outlives this process. */
  readonly kind: "kernel" | "userspace";
  /**
   * Makes the link (and starts the process that serves it) if it is missing; returns when it can be configured. Adopts what exists without
   * changing it.
   */
  ensure(signal: AbortSignal): Promise<void>;
  /** The device as it is; undefined when it does not exist. */
  read(): Promise<DeviceStatus | undefined>;
  /** Sends exactly this change: nothing that it does not name is touched. */
  apply(change: DeviceChange, signal: AbortSignal): Promise<void>;
  /** Removes the link and what serves it. Resolves to what was removed, empty when there was nothing. */
  remove(): Promise<readonly string[]>;
}

/** kg's own nftables table. */
export interface FirewallDriver {
  /** The table as it is; undefined when it is missing or its fixed part was changed by somebody. */
  read(): Promise<Firewall | undefined>;
  /** One change, one transaction: all of it or nothing. */
  apply(change: FirewallChange, signal: AbortSignal): Promise<void>;
  /** Removes the table. Resolves to what was removed, empty when there was nothing. */
  remove(): Promise<readonly string[]>;
  /** Descriptions of foreign rules or policies that drop forwarded packets by default; empty when there are none. */
  foreignForwardDrops(): Promise<readonly string[]>;
  /**
   * Calls `listener` a moment after others changed what `foreignForwardDrops` looks at. Returns what ends it. The old iptables (not
   * iptables-nft) announces nothing and is not told of.
   */
  watchForeign(listener: () => void): () => void;
  /** Calls `listener` when somebody else changed the table. Returns what ends it. */
  watch(listener: () => void): () => void;
  close(): void;
}

/** kg's part of the CNI configuration file. */
export interface CniFile {
  /** Undefined when the file is missing or unreadable. */
  read(): Promise<CniState | undefined>;
  /** Writes ranges and MTU, atomically. Resolves to whether the file had to be changed. */
  write(state: CniState): Promise<boolean>;
  /**
   * Removes the file if it is exactly what kg writes where there was none. Resolves to what was removed, empty when it is somebody else's
   * or missing.
   */
  remove(): Promise<readonly string[]>;
}

/** Reads and applies what a host has; decides nothing. */
export interface HostDriver {
  /** What the host has of kg's. Nothing is changed by it. A firewall or CNI file that cannot be read counts as missing. */
  read(): Promise<HostState>;
  /**
   * Does the changes in the order that `HostChanges` documents. A mesh link whose device could not be configured is not set up. One
   * operation that fails does not keep the others from being done (promise 4); what failed is returned. Throws only when `signal` is
   * aborted. Changes without content send nothing at all.
   */
  apply(changes: HostChanges, signal: AbortSignal): Promise<readonly ApplyFailure[]>;
  /**
   * How many mutating kernel calls were carried out so far: one a link, address, route and rule operation, device change and firewall
   * transaction.
   */
  readonly mutations: number;
  /** Only the WireGuard device, cheaper than `read`: for handshakes and learned endpoints. */
  readDevice(): Promise<DeviceStatus | undefined>;
  /** What address discovery and the MTU need to know. */
  facts(): Promise<HostFacts>;
  /** Foreign rules that drop forwarded packets (report K-60); empty when there are none. Starts processes: for when `watchForwarding` tells. */
  foreignForwardDrops(): Promise<readonly string[]>;
  /** Whether the host forwards IPv4 packets (net.ipv4.ip_forward). */
  forwardsPackets(): Promise<boolean>;
  /**
   * Calls `listener` when what `foreignForwardDrops` or `forwardsPackets` says may have changed (see `FirewallDriver.watchForeign`). Returns
   * what ends it.
   */
  watchForwarding(listener: () => void): () => void;
  /** Names the link with the role `private`; undefined when the host has none. */
  setPrivateLink(name: string | undefined): void;
  /** Calls `listener` when somebody else changed what is kg's. Own changes are not told. Returns what ends it. */
  watch(listener: (event: DriftEvent) => void): () => void;
  /** Removes everything kg ever made on this host: routes, rules, firewall, mesh link. Not the CNI file and not the key. */
  removeEverything(): Promise<Removal>;
  /** Ends events and gives up sockets; the host stays as it is. Idempotent. */
  close(): void;
}

/**
 * `links`: link or address; IPv4 routes vanish with it unannounced (kilo.md B53). `overrun`: events were lost, anything may have changed.
 * All are hints to read again; what changed is not told.
 */
export interface DriftEvent {
  readonly kind: "links" | "routes" | "rules" | "firewall" | "overrun";
}

/** One operation that could not be done. */
export interface ApplyFailure {
  readonly part: "mesh" | "device" | "tunnel" | "route" | "rule" | "firewall" | "cni";
  /** What it was about, e.g. a route's text. */
  readonly subject: string;
  /** Stable: an errno name such as `EEXIST`, or a code of this room. */
  readonly code: string;
  /** "cannot X: reason (value)". */
  readonly message: string;
  readonly cause?: unknown;
}

/** What was removed, one line each, and what could not be. */
export interface Removal {
  readonly removed: readonly string[];
  readonly failures: readonly ApplyFailure[];
}

/** The host as address discovery sees it. */
export interface HostFacts {
  readonly links: readonly LinkFact[];
  /** The link and MTU of the best default route of the main table; IPv4 before IPv6. Own ones, and those with several next hops, do not count. */
  readonly defaultRoute?: { readonly link: string; readonly mtu: number } | undefined;
}

/** A link of the host. */
export interface LinkFact {
  readonly index: number;
  readonly name: string;
  /** rtnetlink's kind, e.g. `wireguard`, `bridge`, `veth`, `ipip`, `tun`; undefined for physical links and loopback. */
  readonly kind?: string | undefined;
  readonly up: boolean;
  readonly loopback: boolean;
  /** Bytes. */
  readonly mtu: number;
  readonly addresses: readonly InterfaceAddress[];
}
