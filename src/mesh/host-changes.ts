/** HostChanges: what has to be done to a host, in the order in which a driver does it. Empty lists mean: nothing. */
import type { InterfaceAddress, Prefix } from "../ip/index.ts";
import type { DeviceChange } from "../wireguard/index.ts";
import type { CniState, Firewall, Route, Rule, SetName } from "./host-state.ts";

/**
 * Order of work: mesh link and device, tunnel, routes and rules to set, firewall, then routes and rules to remove.
 * New ways stand before old ones go. Absent parts are not touched at all.
 */
export interface HostChanges {
  readonly mesh?: LinkChange | undefined;
  /** Changes of the WireGuard device; applied after the link exists and before it is set up. */
  readonly device?: DeviceChange | undefined;
  readonly tunnel?: LinkChange | undefined;
  readonly setRoutes: readonly Route[];
  readonly removeRoutes: readonly Route[];
  readonly addRules: readonly Rule[];
  readonly removeRules: readonly Rule[];
  readonly firewall?: FirewallChange | undefined;
  readonly cni?: CniState | undefined;
}

export interface LinkChange {
  /** Make the link first; a WireGuard device is then empty and gets everything by `device`. */
  readonly create: boolean;
  readonly mtu?: number | undefined;
  readonly up?: boolean | undefined;
  readonly addAddresses: readonly InterfaceAddress[];
  readonly removeAddresses: readonly InterfaceAddress[];
}

/** `replace` writes table, rules and sets anew in one transaction; otherwise only elements change, also in one transaction. */
export type FirewallChange =
  | { readonly kind: "replace"; readonly firewall: Firewall }
  | { readonly kind: "elements"; readonly sets: readonly SetChange[] };

export interface SetChange {
  readonly set: SetName;
  readonly add: readonly Prefix[];
  readonly remove: readonly Prefix[];
}
