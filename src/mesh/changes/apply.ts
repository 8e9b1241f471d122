/** What a host has after a change: the model behind the drivers' in-memory twin and `kg plan --against`. */
import { mergePrefixes } from "../../ip/index.ts";
import { applyDeviceChange, EMPTY_DEVICE } from "../../wireguard/index.ts";
import type { FirewallChange, HostChanges, LinkChange, SetChange } from "../host-changes.ts";
import type { Firewall, HostState, MeshLink, Route, TunnelLink } from "../host-state.ts";
import { statusOf } from "./device-status.ts";
import { addressKey, routeKey, ruleKey } from "./identity.ts";

/** Applies changes as a kernel would; changes nothing in `state`. */
export function applyChanges(state: HostState, changes: HostChanges): HostState {
  return {
    mesh: applyMesh(state.mesh, changes),
    tunnel: changes.tunnel === undefined ? state.tunnel : applyLink(state.tunnel ?? NEW_LINK, changes.tunnel),
    routes: applyRoutes(state.routes, changes),
    rules: applyRules(state.rules, changes),
    firewall:
      changes.firewall === undefined ? state.firewall : applyFirewall(state.firewall, changes.firewall),
    cni: changes.cni ?? state.cni,
  };
}

/** The firewall after its elements changed; every list is sorted and without overlaps again. */
export function applyToFirewall(firewall: Firewall, changes: readonly SetChange[]): Firewall {
  const sets = { ...firewall.sets };
  for (const { set, add, remove } of changes) {
    const removed = new Set(remove.map(({ text }) => text));
    const kept = sets[set].filter(({ text }) => !removed.has(text));
    sets[set] = mergePrefixes([...kept, ...add]);
  }
  return { ...firewall, sets };
}

const NEW_LINK: TunnelLink = { up: false, mtu: 0, addresses: [] };

function applyMesh(mesh: MeshLink | undefined, { mesh: change, device }: HostChanges): MeshLink | undefined {
  const created = change?.create === true ? { ...NEW_LINK, device: EMPTY_DEVICE } : mesh;
  if (created === undefined) return undefined;
  const changed = change === undefined ? created : { ...created, ...applyLink(created, change) };
  return device === undefined
    ? changed
    : { ...changed, device: applyDeviceChange(statusOf(changed.device), device) };
}

function applyLink(link: TunnelLink, { up, mtu, addAddresses, removeAddresses }: LinkChange): TunnelLink {
  const removed = new Set(removeAddresses.map(addressKey));
  const kept = link.addresses.filter((address) => !removed.has(addressKey(address)));
  return { up: up ?? link.up, mtu: mtu ?? link.mtu, addresses: [...kept, ...addAddresses] };
}

function applyRoutes(routes: readonly Route[], { setRoutes, removeRoutes }: HostChanges): Route[] {
  const byKey = new Map(routes.map((route) => [routeKey(route), route]));
  for (const route of setRoutes) byKey.set(routeKey(route), route);
  for (const route of removeRoutes) byKey.delete(routeKey(route));
  return [...byKey.values()];
}

function applyRules(rules: HostState["rules"], { addRules, removeRules }: HostChanges): HostState["rules"] {
  const byKey = new Map([...rules, ...addRules].map((rule) => [ruleKey(rule), rule]));
  for (const rule of removeRules) byKey.delete(ruleKey(rule));
  return [...byKey.values()];
}

/** Elements of a table that is not there cannot be changed. */
function applyFirewall(firewall: Firewall | undefined, change: FirewallChange): Firewall | undefined {
  if (change.kind === "replace") return change.firewall;
  return firewall && applyToFirewall(firewall, change.sets);
}
