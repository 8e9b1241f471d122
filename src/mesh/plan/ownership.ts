/** Every prefix has one owner; nested prefixes stay, the longest match wins (design, "Conflicts"). */
import type { Prefix } from "../../ip/index.ts";
import type { Problem } from "../problems.ts";
import type { RouteOwner } from "../topology/routes.ts";
import type { Topology } from "../topology/topology.ts";
import { type Claim, describeClaim, type Holder, nodeClaims, peerClaims } from "./claims.ts";
import { ownKeys } from "./keys.ts";

export interface Ownership {
  /** The claims that stand: no two for one prefix, none behind a tunnel that cannot stand. */
  readonly claims: readonly Claim[];
  /** Whether a prefix belongs to this owner. */
  isOwnedBy(prefix: Prefix, owner: RouteOwner): boolean;
  /** Whether a prefix lies behind this holder's tunnel. */
  isHeldBy(prefix: Prefix, holder: Holder): boolean;
  /** Whether a tunnel to this holder can stand (see `ownKeys`). */
  hasTunnelKey(holder: Holder): boolean;
  readonly problems: readonly Problem[];
}

export interface OwnershipRules {
  /** Without it nobody claims an internal IP (report K-45). */
  readonly routeInternalIP: boolean;
}

/**
 * An identical prefix goes to a node before a Peer, then to the first by name (reports K-15, R-20). In a mixed mesh Peers come first,
 * because Kilo's agents configure them last and WireGuard gives a prefix to whoever comes last (B51).
 */
export function resolveOwners(topology: Topology, rules: OwnershipRules): Ownership {
  const keys = ownKeys(topology);
  const nodes = nodeClaims(topology).filter(({ kind }) => rules.routeInternalIP || kind !== "internal IP");
  const peers = peerClaims(topology);
  const inOrder = topology.mode === "kilo" ? [...peers, ...nodes] : [...nodes, ...peers];

  const owners = new Map<string, Claim>();
  const problems: Problem[] = [...keys.problems];
  for (const claim of inOrder) {
    if (claim.holder !== topology.own && !keys.hasTunnelKey(claim.holder)) continue;
    const owner = owners.get(claim.prefix.text);
    if (owner === undefined) owners.set(claim.prefix.text, claim);
    else if (!isSameOwner(owner.owner, claim.owner)) problems.push(duplicateProblem(owner, claim));
  }
  return {
    claims: [...owners.values()],
    isOwnedBy: (prefix, owner) => isSameOwner(owners.get(prefix.text)?.owner, owner),
    isHeldBy: (prefix, holder) => owners.get(prefix.text)?.holder === holder,
    hasTunnelKey: keys.hasTunnelKey,
    problems,
  };
}

/** Told of the object that is easier to change: the Peer, else the loser. */
function duplicateProblem(winner: Claim, loser: Claim): Problem {
  const object = loser.owner.kind === "Node" && winner.owner.kind === "Peer" ? winner.owner : loser.owner;
  const message = `${describeClaim(loser)} is also ${describeClaim(winner)}, which keeps it`;
  return { object, reason: "duplicate-prefix", message };
}

function isSameOwner(a: RouteOwner | undefined, b: RouteOwner): boolean {
  return a?.kind === b.kind && a.name === b.name;
}
