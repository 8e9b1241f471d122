/** The kernel's events, reduced to what is not our own doing and concerns kg: drift. */
import { MAIN_TABLE, ROUTE_PROTOCOL, routeKey } from "../mesh/index.ts";
import { type Link, parseLink } from "./links.ts";
import { type LinkAddress, parseAddressMessage } from "./links-addresses.ts";
import {
  NETLINK_ROUTE,
  type NetlinkMessage,
  type NetlinkPort,
  NLM_F_REPLACE,
  readAttributes,
  readI32,
  subscribe,
} from "./netlink/index.ts";
import * as rt from "./netlink/rtnetlink.ts";
import type { DriftEvent, LinkNames } from "./ports.ts";
import { type KernelRoute, parseRoute } from "./routes-codec.ts";
import { parseRule } from "./rules.ts";

const GROUPS = [
  rt.RTNLGRP_LINK,
  rt.RTNLGRP_IPV4_IFADDR,
  rt.RTNLGRP_IPV4_ROUTE,
  rt.RTNLGRP_IPV4_RULE,
  rt.RTNLGRP_IPV6_IFADDR,
  rt.RTNLGRP_IPV6_ROUTE,
  rt.RTNLGRP_IPV6_RULE,
  rt.RTNLGRP_IPV4_NETCONF,
];

/** linux/netconf.h: a message about all links together begins with the family, padded. */
const NETCONF_HEADER = 4;
const NETCONFA_IFINDEX = 1;
const NETCONFA_IFINDEX_ALL = -1;
const NETCONFA_FORWARDING = 2;

/** More states of a link than one apply makes: the oldest are forgotten, and at worst one event too many is told. */
const EXPECTED_STATES = 16;

export interface EventOptions {
  readonly names: LinkNames;
  /** Marks notifications of our own requests. */
  readonly ownPortId: number;
  /** What is there when watching begins. */
  readonly links: readonly Link[];
  readonly addresses: readonly LinkAddress[];
  readonly port?: NetlinkPort | undefined;
  /** Whether a place (`routeKey`) is one where kg has a route, or wants one that a foreign route keeps out. */
  readonly isWatched: (place: string) => boolean;
  readonly tell: (kind: DriftEvent["kind"]) => void;
  /** Somebody switched the forwarding of IPv4 packets on or off, or may have: events were lost. */
  readonly tellForwarding: () => void;
}

/** Watches links, addresses, routes and rules until `close`. */
export class HostEvents {
  readonly #options: EventOptions;
  readonly #stop: () => void;
  /** States that a link with a role is in or, by our own doing, about to get into; oldest first. By name. */
  readonly #links = new Map<string, string[]>();
  readonly #addresses = new Set<string>();

  constructor(options: EventOptions) {
    this.#options = options;
    for (const link of options.links) this.expectLink(link);
    this.learnAddresses(options.addresses);
    this.#stop = subscribe({
      protocol: NETLINK_ROUTE,
      groups: GROUPS,
      port: options.port,
      onMessage: (message) => this.#read(message),
      onOverrun: () => {
        options.tell("overrun");
        options.tellForwarding();
      },
    });
  }

  /** A state that we saw a link in, or put it into: the kernel does not say whose doing a change of a link is. */
  expectLink(link: Pick<Link, "name" | "index" | "up" | "mtu">): void {
    if (this.#options.names.roleOf(link.name) === undefined) return;
    const states = this.#links.get(link.name) ?? [];
    const state = stateOf(link);
    if (states.at(-1) !== state) states.push(state);
    this.#links.set(link.name, states.slice(-EXPECTED_STATES));
  }

  /** All addresses there are, after a read: what was known may be stale after an overrun. */
  learnAddresses(addresses: readonly LinkAddress[]): void {
    this.#addresses.clear();
    for (const address of addresses) this.#addresses.add(addressKey(address));
  }

  close(): void {
    this.#stop();
  }

  #read(message: NetlinkMessage): void {
    const own = message.portId === this.#options.ownPortId;
    switch (message.type) {
      case rt.RTM_NEWLINK:
      case rt.RTM_DELLINK:
        this.#linkEvent(message);
        break;
      case rt.RTM_NEWADDR:
      case rt.RTM_DELADDR:
        this.#addressEvent(message, own);
        break;
      case rt.RTM_NEWROUTE:
      case rt.RTM_DELROUTE:
        if (!own) this.#routeEvent(message);
        break;
      case rt.RTM_NEWRULE:
      case rt.RTM_DELRULE:
        if (!own && parseRule(message)?.protocol === ROUTE_PROTOCOL) this.#options.tell("rules");
        break;
      case rt.RTM_NEWNETCONF:
        if (isAboutForwarding(message)) this.#options.tellForwarding();
        break;
    }
  }

  #linkEvent(message: NetlinkMessage): void {
    const link = parseLink(message);
    if (link === undefined || this.#options.names.roleOf(link.name) === undefined) return;
    const gone = message.type === rt.RTM_DELLINK;
    // With a family it is not the link that goes, but its place in a bridge.
    if (gone && message.payload[0] !== 0) return;
    const state = gone ? "gone" : stateOf(link);
    const states = this.#links.get(link.name) ?? [];
    const at = states.indexOf(state);
    this.#links.set(link.name, at < 0 ? [state] : states.slice(at));
    if (at < 0) this.#options.tell("links");
  }

  /** IPv6 repeats addresses whenever a router renews their lifetime: only what is new or gone counts. */
  #addressEvent(message: NetlinkMessage, own: boolean): void {
    const address = parseAddressMessage(message);
    if (address === undefined || address.linkLocal) return;
    const key = addressKey(address);
    const known = this.#addresses.has(key);
    const there = message.type === rt.RTM_NEWADDR;
    if (there) this.#addresses.add(key);
    else this.#addresses.delete(key);
    if (known !== there && !own) this.#options.tell("links");
  }

  #routeEvent(message: NetlinkMessage): void {
    const route = parseRoute(message);
    if (route === undefined) return;
    if (this.#concernsUs(route, message)) this.#options.tell("routes");
  }

  #concernsUs(route: KernelRoute, message: NetlinkMessage): boolean {
    if (route.protocol === ROUTE_PROTOCOL) return true;
    // Address discovery and the MTU hang on the default route.
    if (route.destination.length === 0 && route.table === MAIN_TABLE) return true;
    if (!this.#options.isWatched(routeKey(route))) return false;
    // A foreign route came over ours (the kernel does not announce what it replaced), or one that was in our way went.
    return message.type === rt.RTM_DELROUTE || (message.flags & NLM_F_REPLACE) !== 0;
  }
}

function isAboutForwarding({ payload }: NetlinkMessage): boolean {
  const attributes = readAttributes(payload.subarray(NETCONF_HEADER));
  const link = readI32(attributes.get(NETCONFA_IFINDEX));
  return link === NETCONFA_IFINDEX_ALL && attributes.has(NETCONFA_FORWARDING);
}

function stateOf(link: Pick<Link, "index" | "up" | "mtu">): string {
  return `${link.index} ${link.up ? "up" : "down"} ${link.mtu}`;
}

function addressKey(address: LinkAddress): string {
  return `${address.link} ${address.on.text}`;
}
