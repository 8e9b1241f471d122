/** A model of the kernel's part: links, addresses, routes and rules, with the refusals and side effects that drivers must live with. */
import { constants } from "node:os";
import type { Family, InterfaceAddress } from "../ip/index.ts";
import { type LinkRole, ROUTE_PROTOCOL, type Route, type Rule, routeKey, ruleKey } from "../mesh/index.ts";
import { failureOf } from "./host-failure.ts";
import { isNetlinkError, NetlinkError } from "./netlink/index.ts";
import type { ApplyFailure } from "./ports.ts";

export interface MemoryLink {
  readonly name: string;
  readonly kind?: string | undefined;
  up: boolean;
  mtu: number;
  addresses: InterfaceAddress[];
}

/** A route with the protocol of who made it. */
export interface MemoryRoute {
  readonly route: Route;
  readonly protocol: number;
}

/** Asked before each mutating call, with its running number from 1: an error refuses it. */
export type FaultInjector = (operation: string, number: number) => Error | undefined;

/** The MTU of a link that was just made. */
const NEW_LINK_MTU = 1420;

/** The state of one host. Every method that changes something is one mutating call, counted when it is carried out. */
export class MemoryKernel {
  readonly links = new Map<LinkRole, MemoryLink>();
  /** By place (`routeKey`), of every protocol. */
  readonly routes = new Map<string, MemoryRoute>();
  rules: Rule[] = [];
  /** Calls that were carried out. */
  mutations = 0;
  fault: FaultInjector | undefined;
  #attempts = 0;

  /** One call: refused, or done and counted. For calls of other drivers as well. */
  mutate(operation: string, work: () => void): void {
    this.#attempts++;
    const fault = this.fault?.(operation, this.#attempts);
    if (fault !== undefined) throw fault;
    work();
    this.mutations++;
  }

  createLink(role: LinkRole, name: string, kind: string): void {
    this.mutate(`create link ${name}`, () => {
      this.links.set(role, { name, kind, up: false, mtu: NEW_LINK_MTU, addresses: [] });
    });
  }

  removeLink(role: LinkRole): void {
    this.mutate(`remove link ${role}`, () => {
      this.links.delete(role);
      this.#flush(role);
    });
  }

  setMtu(link: MemoryLink, mtu: number): void {
    this.mutate(`set the MTU of ${link.name} to ${mtu}`, () => {
      link.mtu = mtu;
    });
  }

  /** Down takes all routes of the link along. */
  setUp(role: LinkRole, link: MemoryLink, up: boolean): void {
    this.mutate(`set ${link.name} ${up ? "up" : "down"}`, () => {
      link.up = up;
      if (!up) this.#flush(role);
    });
  }

  addAddress(link: MemoryLink, on: InterfaceAddress): void {
    const operation = `add address ${on.text} to ${link.name}`;
    if (link.addresses.some((address) => address.text === on.text)) refuse(operation, "EEXIST");
    this.mutate(operation, () => link.addresses.push(on));
  }

  /** The last IPv4 address takes all IPv4 routes of the link along, and an address the routes that prefer it. */
  removeAddress(role: LinkRole, link: MemoryLink, on: InterfaceAddress): void {
    const operation = `remove address ${on.text} from ${link.name}`;
    if (!link.addresses.some((address) => address.text === on.text)) refuse(operation, "EADDRNOTAVAIL");
    this.mutate(operation, () => {
      link.addresses = link.addresses.filter((address) => address.text !== on.text);
      const last = !link.addresses.some((address) => address.address.family === 4);
      if (on.address.family === 4 && last) this.#flush(role, 4);
      for (const [key, { route }] of this.routes) {
        if (route.source?.text === on.address.text) this.routes.delete(key);
      }
    });
  }

  /** CREATE|EXCL, or REPLACE where an own route has the place. */
  setRoute(route: Route, text: string): void {
    const operation = `add route ${text}`;
    this.#checkRoute(route, operation);
    const key = routeKey(route);
    const holder = this.routes.get(key);
    if (holder !== undefined && holder.protocol !== ROUTE_PROTOCOL) {
      refuse(operation, "EEXIST", `the foreign route ${holder.route.destination.text} has its place`);
    }
    this.mutate(operation, () => {
      this.routes.set(key, { route, protocol: ROUTE_PROTOCOL });
    });
  }

  /** Removes an own route; nothing when it is gone. */
  removeRoute(route: Route, text: string): void {
    const key = routeKey(route);
    if (this.routes.get(key)?.protocol !== ROUTE_PROTOCOL) return;
    this.mutate(`remove route ${text}`, () => {
      this.routes.delete(key);
    });
  }

  addRule(rule: Rule, text: string): void {
    const operation = `add rule ${text}`;
    if (this.rules.some((other) => ruleKey(other) === ruleKey(rule))) refuse(operation, "EEXIST");
    this.mutate(operation, () => this.rules.push(rule));
  }

  removeRule(rule: Rule, text: string): void {
    const found = this.rules.find((other) => ruleKey(other) === ruleKey(rule));
    if (found === undefined) return;
    this.mutate(`remove rule ${text}`, () => {
      this.rules = this.rules.filter((other) => other !== found);
    });
  }

  #checkRoute(route: Route, operation: string): void {
    const { family } = route.destination;
    const mixed = [route.gateway, route.source].some(
      (address) => address !== undefined && address.family !== family,
    );
    if (mixed) refuse(operation, "EINVAL", "another address family");
    if (route.source !== undefined && !this.#hasAddress(route.source.text)) {
      refuse(operation, "EINVAL", "Invalid prefsrc address");
    }
    if (route.kind === "unreachable") return;
    const link = route.link === undefined ? undefined : this.links.get(route.link);
    if (link === undefined) refuse(operation, "ENODEV");
    else if (!link.up) refuse(operation, "ENETDOWN");
  }

  #hasAddress(text: string): boolean {
    return [...this.links.values()].some((link) => link.addresses.some((on) => on.address.text === text));
  }

  #flush(role: LinkRole, family?: Family): void {
    for (const [key, { route }] of this.routes) {
      const concerned = family === undefined || route.destination.family === family;
      if (route.link === role && concerned) this.routes.delete(key);
    }
  }
}

/** Does one thing; whether it succeeded, or was so already (an error with the code `already`). */
export function attempt(
  failures: ApplyFailure[],
  part: ApplyFailure["part"],
  subject: string,
  work: () => void,
  already?: string,
): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (already !== undefined && isNetlinkError(error, already)) return true;
    failures.push(failureOf(part, subject, error));
    return false;
  }
}

function refuse(operation: string, code: keyof typeof constants.errno, text?: string): never {
  throw new NetlinkError(operation, { errno: constants.errno[code], text });
}
