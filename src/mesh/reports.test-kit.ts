/** Plans as short texts, for the tests that are named after reports. */
import { formatEndpoint } from "../wireguard/index.ts";
import { type InputSketch, planInput } from "./fixtures.test-kit.ts";
import type { SetName } from "./host-state.ts";
import { MAIN_TABLE } from "./names.ts";
import { type Plan, planHost } from "./plan/plan.ts";

export function plan(hostname: string, sketch: InputSketch = {}): Plan {
  return planHost(planInput(hostname, sketch));
}

/** Allowed IPs of each peer of the device, by the owner's key. */
export function allowedIPs({ state }: Plan): Record<string, string[]> {
  const peers = state.mesh?.device.peers ?? [];
  return Object.fromEntries(peers.map((peer) => [peer.publicKey, peer.allowedIPs.map(({ text }) => text)]));
}

/** The endpoint of a peer; undefined when it has none. Throws when there is no such peer. */
export function endpointOf({ state }: Plan, publicKey: string): string | undefined {
  const peer = state.mesh?.device.peers.find((candidate) => candidate.publicKey === publicKey);
  if (peer === undefined) throw new RangeError(`cannot find a peer: no such key (${publicKey})`);
  return peer.endpoint && formatEndpoint(peer.endpoint);
}

/** `destination [via gateway] link [src source]` of the unicast routes. */
export function routes({ state }: Plan): string[] {
  const unicast = state.routes.filter(({ kind }) => kind === "unicast");
  return unicast.map(({ destination, gateway, link, source }) => {
    const via = gateway === undefined ? "" : ` via ${gateway.text}`;
    return `${destination.text}${via} ${link}${source === undefined ? "" : ` src ${source.text}`}`;
  });
}

/** Of the main table: also for the host itself. */
export function unreachable({ state }: Plan): string[] {
  const closed = state.routes.filter(({ kind, table }) => kind === "unreachable" && table === MAIN_TABLE);
  return closed.map(({ destination }) => destination.text);
}

export function set({ state }: Plan, name: SetName): string[] {
  return (state.firewall?.sets[name] ?? []).map(({ text }) => text);
}

/** `Kind name: reason`. */
export function problems({ problems }: Pick<Plan, "problems">): string[] {
  return problems.map(({ object, reason }) => `${object.kind} ${object.name}: ${reason}`);
}
