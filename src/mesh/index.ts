/**
 * mesh: from Node and Peer objects to what one host shall have, and from what it has to the changes that are left.
 *
 * Promises: the same facts give the same plan, whatever their order, on every host; a bad object harms only itself and is named in
 * `problems`; no two peers of a device share a prefix or a key; what has no way through the mesh is unreachable, never sent in clear;
 * changes name only what differs, and applied once they leave nothing to change. No route leads to its own tunnel's endpoint, and no prefix that
 * a Peer or a location claims takes the way to the endpoint of any tunnel, to the API server or to the host's own networks (in a mixed mesh
 * a location's is kept from the API server only, as Kilo's agents route the rest): it gets no route, and its object is named.
 *
 * It works in steps that can be read and tested apart: `facts` (what objects say) → `topology` (Kilo's, exactly, kilo.md §5 and §6) →
 * `plan` (one owner for each prefix and key, the host's state) → `changes` (the difference). Pure: no sockets, files, clocks or environment.
 */
export * from "./changes/apply.ts";
export * from "./changes/diff.ts";
export { routeKey, ruleKey } from "./changes/identity.ts";
export * from "./changes/standing.ts";
export { ANNOTATIONS, annotationsOf, lastSeenOf } from "./facts/annotations.ts";
export * from "./facts/discover-addresses.ts";
export { checkedInAt, FRESH_SECONDS, type FreshnessView } from "./facts/freshness.ts";
export * from "./facts/mode.ts";
export * from "./facts/node.ts";
export * from "./facts/own-addresses.ts";
export * from "./facts/own-annotations.ts";
export * from "./facts/peer.ts";
export * from "./host-changes.ts";
export * from "./host-state.ts";
export * from "./names.ts";
export * from "./objects.ts";
export * from "./options.ts";
export * from "./plan/agent.ts";
export * from "./plan/laptop.ts";
export type { UnresolvedName } from "./plan/names.ts";
export type { NestedPrefix } from "./plan/overlaps.ts";
export { type Plan, planHost } from "./plan/plan.ts";
export * from "./problems.ts";
export type { Topology } from "./topology/topology.ts";
