/** Endpoints whose names have no address yet, and what hangs on them. */
import type { Endpoint } from "../../wireguard/index.ts";
import type { Resolve } from "../options.ts";
import type { Problem } from "../problems.ts";
import type { RouteOwner } from "../topology/routes.ts";
import type { Topology } from "../topology/topology.ts";

export interface UnresolvedName {
  readonly name: string;
  /** Whose endpoint it is. */
  readonly owner: RouteOwner;
  /** The segment whose leader may be another once the name resolves; only in a mixed mesh (kilo.md §5.2). */
  readonly decidesLeaderOf?: string | undefined;
}

/** In order of the segments, then of the Peers. One bad name harms nobody else (B8). */
export function unresolvedNames({ segments, peers, mode }: Topology, resolve: Resolve): UnresolvedName[] {
  const isUnresolved = (endpoint: Endpoint) =>
    endpoint.kind === "name" && (resolve(endpoint.name) ?? []).length === 0;
  const ofNodes = segments.flatMap((segment) => {
    const decidesLeaderOf = mode === "kilo" && segment.members.length > 1 ? segment.name : undefined;
    return segment.members.flatMap((node) => {
      const owner: RouteOwner = { kind: "Node", name: node.name };
      return node.endpoints
        .filter(isUnresolved)
        .map((endpoint) => ({ name: nameOf(endpoint), owner, decidesLeaderOf }));
    });
  });
  const ofPeers = peers.flatMap(({ name, facts }) => {
    const owner: RouteOwner = { kind: "Peer", name };
    const unresolved = facts.endpoint !== undefined && isUnresolved(facts.endpoint) ? [facts.endpoint] : [];
    return unresolved.map((endpoint) => ({ name: nameOf(endpoint), owner }));
  });
  return [...ofNodes, ...ofPeers];
}

/** The problem of each unresolved name. */
export function nameProblems(names: readonly UnresolvedName[]): Problem[] {
  return names.map(({ name, owner, decidesLeaderOf }) => {
    const leader =
      decidesLeaderOf === undefined ? "" : `; the leader of ${decidesLeaderOf} may be another once it does`;
    return {
      object: owner,
      reason: "name-unresolved",
      message: `endpoint ${name} does not resolve${leader}`,
    };
  });
}

function nameOf(endpoint: Endpoint): string {
  return endpoint.kind === "name" ? endpoint.name : endpoint.address.text;
}
