/** The fewest changes that make a host what it shall be. */
import type { InterfaceAddress, Prefix } from "../../ip/index.ts";
import { type DeviceChange, diffDevice, isEmptyDeviceChange } from "../../wireguard/index.ts";
import type { FirewallChange, HostChanges, LinkChange, SetChange } from "../host-changes.ts";
import {
  type CniState,
  type Firewall,
  type HostState,
  type MeshLink,
  type Route,
  SET_NAMES,
  type TunnelLink,
} from "../host-state.ts";
import { statusOf } from "./device-status.ts";
import { addressKey, routeContent, routeKey, ruleKey } from "./identity.ts";

export interface DiffHostContext {
  /** Unix seconds. */
  readonly now: number;
  /** The state that was applied before; undefined after a start. Tells a wish that changed from an endpoint that WireGuard learned. */
  readonly previous?: HostState | undefined;
}

/**
 * What has to be done so that `actual` becomes `wanted`. Applied once, the next difference is empty.
 *
 * Links are made and set up, never removed: a host that takes no part any more keeps its link as it is, and clean-up is a command of its
 * own. Routes and rules that are not wanted go, after the new ones stand.
 */
export function diffHost(wanted: HostState, actual: HostState, context: DiffHostContext): HostChanges {
  const wantedRules = byKey(wanted.rules, ruleKey);
  const actualRules = byKey(actual.rules, ruleKey);
  return {
    mesh: wanted.mesh && diffLink(wanted.mesh, actual.mesh),
    device: diffMeshDevice(wanted.mesh, actual.mesh, context),
    tunnel: wanted.tunnel && diffLink(wanted.tunnel, actual.tunnel),
    ...diffRoutes(wanted.routes, actual.routes),
    addRules: missingFrom(wantedRules, actualRules),
    removeRules: missingFrom(actualRules, wantedRules),
    firewall: diffFirewall(wanted.firewall, actual.firewall),
    cni: diffCni(wanted.cni, actual.cni),
  };
}

/** Whether there is nothing to do: then nothing must be sent (promise 1). */
export function isEmptyChange(changes: HostChanges): boolean {
  const { mesh, device, tunnel, firewall, cni } = changes;
  const lists = [changes.setRoutes, changes.removeRoutes, changes.addRules, changes.removeRules];
  const parts = [mesh, device, tunnel, firewall, cni];
  return lists.every((list) => list.length === 0) && parts.every((part) => part === undefined);
}

function diffLink(wanted: TunnelLink, actual: TunnelLink | undefined): LinkChange | undefined {
  const wantedAddresses = byKey(wanted.addresses, addressKey);
  const actualAddresses = byKey<InterfaceAddress>(actual?.addresses ?? [], addressKey);
  const change: LinkChange = {
    create: actual === undefined,
    mtu: wanted.mtu === actual?.mtu ? undefined : wanted.mtu,
    up: wanted.up === actual?.up ? undefined : wanted.up,
    addAddresses: missingFrom(wantedAddresses, actualAddresses),
    removeAddresses: missingFrom(actualAddresses, wantedAddresses),
  };
  const isSettled = change.mtu === undefined && change.up === undefined;
  const isSame = change.addAddresses.length === 0 && change.removeAddresses.length === 0;
  return !change.create && isSettled && isSame ? undefined : change;
}

function diffMeshDevice(
  wanted: MeshLink | undefined,
  actual: MeshLink | undefined,
  { now, previous }: DiffHostContext,
): DeviceChange | undefined {
  if (wanted === undefined) return undefined;
  const device = actual && statusOf(actual.device);
  const change = diffDevice(wanted.device, device, { now, previous: previous?.mesh?.device });
  return isEmptyDeviceChange(change) ? undefined : change;
}

function diffRoutes(
  wanted: readonly Route[],
  actual: readonly Route[],
): Pick<HostChanges, "setRoutes" | "removeRoutes"> {
  const wantedRoutes = byKey(wanted, routeKey);
  const actualRoutes = byKey(actual, routeKey);
  const setRoutes = [...wantedRoutes].flatMap(([key, route]) => {
    const existing = actualRoutes.get(key);
    return existing !== undefined && routeContent(existing) === routeContent(route) ? [] : [route];
  });
  return { setRoutes, removeRoutes: missingFrom(actualRoutes, wantedRoutes) };
}

/** The guarded link is part of the rules, not of a set: when it changes, the table is written anew. */
function diffFirewall(
  wanted: Firewall | undefined,
  actual: Firewall | undefined,
): FirewallChange | undefined {
  if (wanted === undefined) return undefined;
  if (actual === undefined || actual.remoteInternalLink !== wanted.remoteInternalLink) {
    return { kind: "replace", firewall: wanted };
  }
  const sets = SET_NAMES.map((set) => diffSet(set, wanted, actual)).filter((change) => change !== undefined);
  return sets.length === 0 ? undefined : { kind: "elements", sets };
}

function diffSet(set: SetChange["set"], wanted: Firewall, actual: Firewall): SetChange | undefined {
  const wantedElements = byKey(wanted.sets[set], textOf);
  const actualElements = byKey(actual.sets[set], textOf);
  const add = missingFrom(wantedElements, actualElements);
  const remove = missingFrom(actualElements, wantedElements);
  return add.length === 0 && remove.length === 0 ? undefined : { set, add, remove };
}

function diffCni(wanted: CniState | undefined, actual: CniState | undefined): CniState | undefined {
  return wanted === undefined || sameCni(wanted, actual) ? undefined : wanted;
}

function sameCni(wanted: CniState, actual: CniState | undefined): boolean {
  return wanted.mtu === actual?.mtu && wanted.ranges.map(textOf).join() === actual.ranges.map(textOf).join();
}

function textOf({ text }: Prefix): string {
  return text;
}

function byKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item> {
  return new Map(items.map((item) => [keyOf(item), item]));
}

/** Items of one map whose keys the other lacks. */
function missingFrom<Item>(items: ReadonlyMap<string, Item>, other: ReadonlyMap<string, Item>): Item[] {
  return [...items].filter(([key]) => !other.has(key)).map(([, item]) => item);
}
