/** What the host driver's tests plan: a link, a device, routes, rules and a table. */
import { parseAddress, parseInterfaceAddress, parsePrefix } from "../ip/index.ts";
import {
  type Firewall,
  type HostChanges,
  type LinkChange,
  MAIN_TABLE,
  POLICY_TABLE,
  type Route,
  RULE_PRIORITY,
  type Rule,
  UNREACHABLE_METRIC,
} from "../mesh/index.ts";
import { parsePublicKey, SecretKey, socketEndpoint } from "../wireguard/index.ts";
import { formatRoute } from "./routes.ts";

/** Nothing to do. */
export const NO_CHANGES: HostChanges = { setRoutes: [], removeRoutes: [], addRules: [], removeRules: [] };

/** How a mesh link is made: with an address of each family, and up. */
export const MAKE_LINK: LinkChange = {
  create: true,
  mtu: 1380,
  up: true,
  addAddresses: [onLink("10.46.0.1/16"), onLink("fd04::1/64")],
  removeAddresses: [],
};

/** Every kind of route that a plan has, in both families. Needs the link of MAKE_LINK. */
export const ROUTES: readonly Route[] = [
  unicast("10.42.1.0/24", { gateway: "10.46.0.2", source: "10.0.0.1" }),
  unicast("10.42.2.0/24", { gateway: "10.46.0.3" }),
  unicast("192.168.0.2/32", { gateway: "10.46.0.2", source: "10.0.0.1", metric: 50 }),
  unicast("10.5.0.1/32", { source: "10.0.0.1" }),
  unicast("10.42.3.0/24", { gateway: "10.0.0.7", link: "private" }),
  unicast("10.0.0.7/32", { gateway: "10.0.0.7", link: "private", table: POLICY_TABLE, source: "10.0.0.1" }),
  unreachable("10.46.0.0/16"),
  unreachable("10.42.1.0/24"),
  unreachable("10.200.0.0/16", POLICY_TABLE),
  unicast("fd02:1::/64", { gateway: "fd04::2", source: "fd00::1" }),
  unicast("fd02:2::/64", { gateway: "fd04::3" }),
  unicast("fd05::1/128", { source: "fd00::1", metric: 77 }),
  unicast("fd02:3::/64", { gateway: "fd00::7", link: "private" }),
  unreachable("fd04::/64"),
  unreachable("fd02:1::/64"),
];

/** Every kind of rule that a plan has. */
export const RULES: readonly Rule[] = [
  { priority: RULE_PRIORITY, from: prefix("10.42.0.0/24"), to: prefix("10.0.0.7/32"), table: POLICY_TABLE },
  { priority: RULE_PRIORITY, from: prefix("10.42.0.0/24"), to: prefix("10.200.0.0/16"), table: POLICY_TABLE },
  { priority: RULE_PRIORITY, to: prefix("10.0.0.7/32"), inputLink: "mesh", table: POLICY_TABLE },
  { priority: RULE_PRIORITY, to: prefix("fd00::7/128"), table: POLICY_TABLE },
];

/** A table with some of its sets filled. */
export const FIREWALL: Firewall = {
  sets: {
    masquerade_from: [prefix("10.42.0.0/24")],
    keep_source: [prefix("10.42.0.0/16"), prefix("fd02::/16")],
    location_ips: [],
    location_nodes: [],
    remote_internal: [prefix("192.168.0.2/32")],
  },
  remoteInternalLink: "mesh",
};

const PEER_KEY = parsePublicKey("GY5aMYnhwt0hkjPG0rEhUvR2PYmYvgP5CmB8DpTqbkk=");

/** A key, a port and one peer. */
export const DEVICE_CHANGE = {
  privateKey: SecretKey.fromBytes(new Uint8Array(32).fill(0x41)),
  listenPort: 51820,
  peers:
    PEER_KEY === undefined
      ? []
      : [
          {
            kind: "add" as const,
            publicKey: PEER_KEY,
            endpoint: socketEndpoint(address("192.0.2.1"), 51820),
            allowedIPs: [prefix("10.42.1.0/24"), prefix("10.46.0.2/32")],
            persistentKeepalive: 0,
          },
        ],
};

/** Many routes through the mesh link, each of its own /24 below 10.128.0.0/9. */
export function manyRoutes(count: number): Route[] {
  return Array.from({ length: count }, (_, i) =>
    unicast(`10.${128 + Math.floor(i / 256)}.${i % 256}.0/24`, { gateway: "10.46.0.2", source: "10.0.0.1" }),
  );
}

/** A text for each route, sorted, so that lists can be compared. */
export function texts(routes: readonly Route[]): string[] {
  return routes.map((route) => formatRoute(route, route.link)).sort();
}

/** A text for each rule, sorted. */
export function ruleTexts(rules: readonly Rule[]): string[] {
  return rules
    .map((rule) => [rule.priority, rule.from?.text, rule.to?.text, rule.inputLink, rule.table].join(" "))
    .sort();
}

/** A route, by default through the mesh link, in the main table, with metric 0. */
export function unicast(
  destination: string,
  more: { gateway?: string; source?: string; metric?: number; table?: number; link?: Route["link"] },
): Route {
  return {
    kind: "unicast",
    destination: prefix(destination),
    link: more.link ?? "mesh",
    gateway: more.gateway === undefined ? undefined : address(more.gateway),
    source: more.source === undefined ? undefined : address(more.source),
    table: more.table ?? MAIN_TABLE,
    metric: more.metric ?? 0,
  };
}

function unreachable(destination: string, table = MAIN_TABLE): Route {
  return {
    kind: "unreachable",
    destination: prefix(destination),
    table,
    metric: UNREACHABLE_METRIC,
  };
}

/** A prefix that must be one. */
export function prefix(text: string) {
  return required(parsePrefix(text), text);
}

function address(text: string) {
  return required(parseAddress(text), text);
}

/** An address of a link that must be one. */
export function onLink(text: string) {
  return required(parseInterfaceAddress(text), text);
}

function required<T>(value: T | undefined, text: string): T {
  if (value === undefined) throw new Error(`cannot read the test's own input: ${text}`);
  return value;
}
