/** Blueprint: a scenario as network namespaces and the links between them, with the commands that configure each. Pure. */
import { lanOf, natAddresses, type PlacedHost, placeHosts, routerAddress } from "./addressing.ts";
import { natRules } from "./nat-rules.ts";
import type { Place, Scenario } from "./scenario.ts";

export interface Blueprint {
  readonly scenario: Scenario;
  readonly hosts: readonly PlacedHost[];
  readonly namespaces: readonly NamespacePlan[];
  readonly links: readonly LinkPlan[];
}

export interface NamespacePlan {
  readonly name: string;
  readonly kind: "internet" | "router" | "host";
  /** `path=value` below /proc/sys, set before there is any link. */
  readonly sysctls: readonly string[];
  /** Lines of `ip -batch`, to be run before those of the links. */
  readonly commands: readonly string[];
  /** Text for `nft -f`, if any. */
  readonly nftables?: string | undefined;
}

/** A veth pair. `near` is the underlay's end (internet or router), where cables are cut; `far` the host's or the router's uplink. */
export interface LinkPlan {
  readonly near: LinkEnd;
  readonly far: LinkEnd;
  /** Bytes. */
  readonly mtu: number;
}

export interface LinkEnd {
  readonly namespace: string;
  readonly link: string;
  /** Lines of `ip -batch` that configure the end once it exists; may be run again, e.g. after a cut. */
  readonly commands: readonly string[];
}

/** The internet: one router that knows a route to every public address and to no other. */
export const INTERNET = "internet";

/** The internet's own address, gateway of all who have a public one. From TEST-NET-1 (RFC 5737). */
export const INTERNET_ADDRESS = "192.0.2.1";

const DEFAULT_MTU = 1500;

/** Underlay routers: plain IPv4 forwarders. IPv6 is off, so that a capture shows what hosts send and nothing else. */
const ROUTER_SYSCTLS = [
  "net/ipv6/conf/all/disable_ipv6=1",
  "net/ipv6/conf/default/disable_ipv6=1",
  "net/ipv4/conf/all/rp_filter=0",
  "net/ipv4/conf/default/rp_filter=0",
  "net/ipv4/ip_forward=1",
];

/** Hosts: what every Kubernetes node has, and the loose reverse path filter that systemd distributions set. */
const HOST_SYSCTLS = [
  "net/ipv4/conf/all/rp_filter=2",
  "net/ipv4/conf/default/rp_filter=2",
  "net/ipv4/ip_forward=1",
];

/** @throws ScenarioError for a scenario that cannot be built */
export function makeBlueprint(scenario: Scenario): Blueprint {
  const hosts = placeHosts(scenario);
  const places = scenario.places ?? [];
  return {
    scenario,
    hosts,
    namespaces: [
      internetNamespace(),
      ...places.map((place) => routerNamespace(place, hosts)),
      ...hosts.map((host) => hostNamespace(host)),
    ],
    links: [...places.flatMap((place) => routerUplink(place)), ...hosts.flatMap((host) => hostLinks(host))],
  };
}

function internetNamespace(): NamespacePlan {
  return {
    name: INTERNET,
    kind: "internet",
    sysctls: ROUTER_SYSCTLS,
    commands: ["link set lo up", `addr add ${INTERNET_ADDRESS}/32 dev lo`, "route add unreachable default"],
  };
}

function routerNamespace(place: Place, hosts: readonly PlacedHost[]): NamespacePlan {
  return {
    name: place.name,
    kind: "router",
    sysctls: ROUTER_SYSCTLS,
    commands: [
      "link set lo up",
      "link add lan type bridge",
      `addr add ${routerAddress(place)}/${lanOf(place).length} dev lan`,
      "link set lan up",
    ],
    nftables: place.nat === undefined ? undefined : natRules(place, place.nat, hosts),
  };
}

function hostNamespace(host: PlacedHost): NamespacePlan {
  return { name: host.name, kind: "host", sysctls: HOST_SYSCTLS, commands: ["link set lo up"] };
}

function routerUplink(place: Place): LinkPlan[] {
  if (place.nat === undefined) return [];
  return [uplink(place.name, "wan", natAddresses(place), place.nat.mtu ?? DEFAULT_MTU)];
}

function hostLinks(host: PlacedHost): LinkPlan[] {
  const mtu = host.spec.mtu ?? DEFAULT_MTU;
  const links: LinkPlan[] = [];
  if (host.publicAddress !== undefined) links.push(uplink(host.name, "eth0", [host.publicAddress], mtu));
  if (host.place !== undefined && host.privateAddress !== undefined) {
    links.push(
      lanLink(host, host.place.name, links.length === 0 ? "eth0" : "eth1", host.privateAddress, mtu),
    );
  }
  return links;
}

/** As clouds do it: single addresses, and a gateway that is on the link without sharing a network. */
function uplink(namespace: string, link: string, addresses: readonly string[], mtu: number): LinkPlan {
  return {
    near: {
      namespace: INTERNET,
      link: namespace,
      commands: [
        `link set ${namespace} up`,
        ...addresses.map((address) => `route replace ${address}/32 dev ${namespace}`),
      ],
    },
    far: {
      namespace,
      link,
      commands: [
        ...addresses.map((address) => `addr replace ${address}/32 dev ${link}`),
        `link set ${link} up`,
        `route replace default via ${INTERNET_ADDRESS} dev ${link} onlink`,
      ],
    },
    mtu,
  };
}

function lanLink(host: PlacedHost, router: string, link: string, address: string, mtu: number): LinkPlan {
  const gateway = host.gateway === undefined ? [] : [`route replace default via ${host.gateway} dev ${link}`];
  return {
    near: {
      namespace: router,
      link: host.name,
      commands: [`link set ${host.name} master lan`, `link set ${host.name} up`],
    },
    far: {
      namespace: host.name,
      link,
      commands: [`addr replace ${address} dev ${link}`, `link set ${link} up`, ...gateway],
    },
    mtu,
  };
}
