/** What stands, but should be known: nested prefixes, Peers and subnets across the mesh's own addresses, shared endpoints. */
import { createPrefixIndex, familyBits, type Prefix, type PrefixIndex } from "../../ip/index.ts";
import { formatEndpoint } from "../../wireguard/index.ts";
import type { MeshOptions } from "../options.ts";
import { nodeProblem, type Problem, peerProblem } from "../problems.ts";
import type { RouteOwner } from "../topology/routes.ts";
import type { Topology } from "../topology/topology.ts";
import { type Claim, describeClaim } from "./claims.ts";

/** A prefix inside another's: the inner one wins for its addresses, both stay. */
export interface NestedPrefix {
  readonly outer: Prefix;
  readonly outerOwner: RouteOwner;
  /** The first of those inside that lie behind another tunnel. */
  readonly inner: Prefix;
  readonly innerOwner: RouteOwner;
  /** How many there are in all: one entry for each outer prefix, so that a Peer with a large prefix does not fill the plan. */
  readonly count: number;
}

/** One entry for each prefix with others' prefixes inside, by `comparePrefixes` of the inner ones. */
export function nestedPrefixes(claims: readonly Claim[]): NestedPrefix[] {
  const index = indexOf(claims);
  const wide = claims.filter(({ prefix }) => prefix.length < familyBits(prefix.family));
  return wide.flatMap((outer) => {
    const inside = claimsWithin(index, outer.prefix).filter(
      (claim) => claim !== outer && claim.holder !== outer.holder,
    );
    const [inner] = inside;
    if (inner === undefined) return [];
    return [
      {
        outer: outer.prefix,
        outerOwner: outer.owner,
        inner: inner.prefix,
        innerOwner: inner.owner,
        count: inside.length,
      },
    ];
  });
}

/** Peers whose allowed IPs overlap the subnet or the nodes' addresses (report K-34). A default route is a wish of its own kind. */
export function peerOverlaps(claims: readonly Claim[], subnet: Prefix): Problem[] {
  const nodes = indexOf(claims.filter(({ owner }) => owner.kind === "Node"));
  const subnetIndex = createPrefixIndex([[subnet, `the subnet of tunnel addresses, ${subnet.text}`]]);
  const peers = claims.filter(({ owner, prefix }) => owner.kind === "Peer" && prefix.length > 0);
  return peers.flatMap(({ owner, prefix }) => {
    const inSubnet = meeting(subnetIndex, prefix);
    const met = [...inSubnet, ...meeting(nodes, prefix).map(describeClaim)];
    const [first] = met;
    if (first === undefined) return [];
    const more = met.length > 1 ? ` and ${met.length - 1} more` : "";
    return [
      peerProblem(owner.name, "peer-overlaps-mesh", `allowed IP ${prefix.text} overlaps ${first}${more}`),
    ];
  });
}

/** A subnet of tunnel addresses that overlaps pods, nodes or services (report R-41). */
export function subnetOverlaps(claims: readonly Claim[], { subnet, serviceCIDRs }: MeshOptions): Problem[] {
  const others = claims.filter(({ owner, kind }) => owner.kind === "Node" && kind !== "tunnel address");
  const met = [
    ...meeting(indexOf(others), subnet).map(describeClaim),
    ...meeting(
      createPrefixIndex(serviceCIDRs.map((prefix) => [prefix, `service CIDR ${prefix.text}`])),
      subnet,
    ),
  ];
  const [first] = met;
  if (first === undefined) return [];
  const more = met.length > 1 ? ` and ${met.length - 1} more` : "";
  const message = `subnet ${subnet.text} overlaps ${first}${more}`;
  return [{ object: { kind: "Option", name: "subnet" }, reason: "subnet-overlaps", message }];
}

/** Nodes that announce one and the same endpoint (report K-11): told of each of them. */
export function sharedEndpoints({ segments }: Topology): Problem[] {
  const byEndpoint = new Map<string, string[]>();
  for (const { name, endpoints } of segments.flatMap(({ members }) => members)) {
    for (const text of endpoints.map(formatEndpoint)) {
      const names = byEndpoint.get(text);
      if (names === undefined) byEndpoint.set(text, [name]);
      else names.push(name);
    }
  }
  return [...byEndpoint].flatMap(([endpoint, [first, second, ...others]]) => {
    if (first === undefined || second === undefined) return [];
    const shared = (name: string, other: string) => {
      return nodeProblem(name, "endpoint-shared", `announces endpoint ${endpoint}, as does Node ${other}`);
    };
    return [shared(first, second), ...[second, ...others].map((name) => shared(name, first))];
  });
}

function indexOf(claims: readonly Claim[]): PrefixIndex<Claim> {
  return createPrefixIndex(claims.map((claim) => [claim.prefix, claim] as const));
}

function claimsWithin(index: PrefixIndex<Claim>, prefix: Prefix): Claim[] {
  return index.within(prefix).map(([, claim]) => claim);
}

/** What shares an address with a prefix, each once. */
function meeting<Value>(index: PrefixIndex<Value>, prefix: Prefix): Value[] {
  const entries = [...index.covering(prefix), ...index.within(prefix)];
  return [...new Set(entries.map(([, value]) => value))];
}
