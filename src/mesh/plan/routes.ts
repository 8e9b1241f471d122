/** From wanted routes to the host's: one owner for each prefix, host bits cleared, nothing that the kernel refuses or that would loop. */
import {
  type Address,
  containsAddress,
  familyBits,
  networkOf,
  type Prefix,
  uniquePrefixes,
} from "../../ip/index.ts";
import type { Route, Rule } from "../host-state.ts";
import { MAIN_TABLE, RULE_PRIORITY } from "../names.ts";
import type { Problem, ProblemReason } from "../problems.ts";
import type { WantedRoute, WantedRouting } from "../topology/routes.ts";
import type { Ownership } from "./ownership.ts";
import type { Underlay } from "./underlay.ts";

export interface RoutingRules {
  readonly ownership: Ownership;
  /** Addresses of this host: no route leads to them. */
  readonly ownAddresses: readonly Address[];
  /** Addresses that may stand as a route's source; undefined when unknown, then any may (B11). */
  readonly assigned?: readonly Address[] | undefined;
  readonly underlay: Underlay;
}

export interface HostRouting {
  readonly routes: readonly Route[];
  readonly rules: readonly Rule[];
  /** Destinations that got no route, although they belong to the mesh: nothing may be forwarded to them in clear. */
  readonly refused: readonly Prefix[];
  readonly problems: readonly Problem[];
}

/** The routes and rules of a host, in the order of the wanted ones, each once. */
export function hostRouting(wanted: WantedRouting, rules: RoutingRules): HostRouting {
  const router = new HostRouter(rules);
  for (const route of wanted.routes) router.add(route);
  const policies = wanted.rules.map((rule): Rule => ({ priority: RULE_PRIORITY, ...rule }));
  return {
    routes: [...router.routes.values()],
    rules: uniqueRules(policies),
    refused: uniquePrefixes(router.refused),
    problems: router.problems,
  };
}

class HostRouter {
  readonly routes = new Map<string, Route>();
  readonly refused: Prefix[] = [];
  readonly problems: Problem[] = [];
  readonly #ownership: Ownership;
  readonly #ownAddresses: ReadonlySet<string>;
  readonly #assigned: ReadonlySet<string> | undefined;
  readonly #underlay: Underlay;
  readonly #locationIPs: ReadonlySet<string>;

  constructor({ ownership, ownAddresses, assigned, underlay }: RoutingRules) {
    this.#ownership = ownership;
    this.#underlay = underlay;
    const locationIPs = ownership.claims.filter(({ kind }) => kind === "allowed-location-ip");
    this.#locationIPs = new Set(locationIPs.map(({ prefix }) => prefix.text));
    this.#ownAddresses = new Set(ownAddresses.map(({ text }) => text));
    this.#assigned = assigned && new Set(assigned.map(({ text }) => text));
  }

  add(wanted: WantedRoute): void {
    const destination = networkOf(wanted.destination);
    if (!this.#isWelcome(wanted, destination)) return;
    const { link, gateway, table } = wanted;
    const source = this.#source(wanted);
    const identity = `${table} ${destination.text}`;
    if (this.routes.has(identity)) return;
    this.routes.set(identity, { kind: "unicast", destination, link, gateway, source, table, metric: 0 });
  }

  /** Routes of the policy table carry the location's own packets between its nodes: no prefix of the mesh is at stake there. */
  #isWelcome(wanted: WantedRoute, destination: Prefix): boolean {
    if (wanted.table !== MAIN_TABLE) return true;
    if (!this.#ownership.isOwnedBy(destination, wanted.owner)) return false;
    const isHost = destination.length === familyBits(destination.family);
    if (isHost && this.#ownAddresses.has(destination.base.text)) return false;
    if (isHost && isNodesOwnEndpoint(wanted, destination)) return false;
    const refusal = refusalOf(wanted, destination, isHost) ?? this.#underlayRefusal(wanted, destination);
    if (refusal === undefined) return true;
    this.#report(wanted, refusal.reason, refusal.message);
    if (refusal.reason !== "self-gateway" && destination.length > 0) this.refused.push(destination);
    return false;
  }

  /** Only what an owner claims by hand: pod CIDRs, internal IPs and tunnel addresses belong to the mesh itself. */
  #underlayRefusal({ owner }: WantedRoute, destination: Prefix): Refusal | undefined {
    const { text } = destination;
    if (owner.kind === "Peer") {
      const objection = this.#underlay.objectionTo(destination);
      if (objection === undefined) return undefined;
      return { reason: "peer-over-underlay", message: `no route for ${text}: ${objection}` };
    }
    if (!this.#locationIPs.has(text)) return undefined;
    const objection = this.#underlay.objectionToLocationIP(destination);
    if (objection === undefined) return undefined;
    return { reason: "location-ip-over-underlay", message: `no route for ${text}: ${objection}` };
  }

  #source({ source }: WantedRoute): Address | undefined {
    const mayStand = source === undefined || this.#assigned === undefined || this.#assigned.has(source.text);
    return mayStand ? source : undefined;
  }

  #report({ owner }: WantedRoute, reason: ProblemReason, message: string): void {
    this.problems.push({ object: owner, reason, message });
  }
}

/** A node that is contacted at its internal IP is reached there without a tunnel: nothing is wrong with that (kilo.md §6.5, B54). */
function isNodesOwnEndpoint({ owner, tunnelEndpoint }: WantedRoute, destination: Prefix): boolean {
  return owner.kind === "Node" && tunnelEndpoint?.text === destination.base.text;
}

interface Refusal {
  readonly reason: ProblemReason;
  readonly message: string;
}

/** Why a route must not be, whoever owns its destination. */
function refusalOf(
  { gateway, tunnelEndpoint }: WantedRoute,
  destination: Prefix,
  isHost: boolean,
): Refusal | undefined {
  const { text } = destination;
  if (destination.length === 0) {
    return {
      reason: "default-route-refused",
      message: `no route for ${text}: this host keeps its own default route`,
    };
  }
  if (tunnelEndpoint !== undefined && containsAddress(destination, tunnelEndpoint)) {
    return {
      reason: "route-to-endpoint",
      message: `no route for ${text}: the tunnel's endpoint ${tunnelEndpoint.text} lies in it`,
    };
  }
  if (isHost && gateway?.text === destination.base.text) {
    return { reason: "self-gateway", message: `no route for ${text}: its gateway is the same address` };
  }
  return undefined;
}

function uniqueRules(rules: readonly Rule[]): Rule[] {
  const byText = new Map<string, Rule>();
  for (const rule of rules) {
    const text = `${rule.from?.text} ${rule.to?.text} ${rule.inputLink} ${rule.table}`;
    if (!byText.has(text)) byText.set(text, rule);
  }
  return [...byText.values()];
}
