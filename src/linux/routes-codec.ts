/** Routes as the kernel writes them: with indexes of links, and numbers of protocols and tables. */
import {
  type Address,
  addressToBytes,
  type Family,
  familyBits,
  makeAddress,
  makePrefix,
  type Prefix,
} from "../ip/index.ts";
import {
  ByteWriter,
  type NetlinkMessage,
  type NetlinkRequest,
  type NetlinkSocket,
  readAttributes,
  readU32,
} from "./netlink/index.ts";
import {
  familyNumber,
  familyOfNumber,
  RTM_DELROUTE,
  RTM_GETROUTE,
  RTM_NEWROUTE,
  readAddress,
} from "./netlink/rtnetlink.ts";

const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_PRIORITY = 6;
const RTA_PREFSRC = 7;
const RTA_MULTIPATH = 9;
const RTA_TABLE = 15;
const RTA_VIA = 18;
const RTN_UNSPEC = 0;
const RTN_UNICAST = 1;
const RTN_UNREACHABLE = 7;
const RTNH_F_DEAD = 0x1;
const RTNH_F_ONLINK = 0x4;
const RTM_F_CLONED = 0x200;
const RT_SCOPE_UNIVERSE = 0;
const RT_SCOPE_LINK = 253;
/** In a removal: whatever the scope is. */
const RT_SCOPE_NOWHERE = 255;
const ROUTE_HEADER = 12;

/** What IPv6 makes of a route without metric, and what it takes 0 for (kilo.md §6.1). */
const V6_DEFAULT_METRIC = 1024;

/** A route of the kernel's. */
export interface KernelRoute {
  readonly family: Family;
  readonly table: number;
  readonly destination: Prefix;
  /** 0 is the best; IPv6's default of 1024 is 0 here as well. */
  readonly metric: number;
  readonly protocol: number;
  /** `other`: blackhole, prohibit, local, … */
  readonly kind: "unicast" | "unreachable" | "other";
  /** Index of the link; undefined when there is none, or several next hops. */
  readonly link?: number | undefined;
  readonly gateway?: Address | undefined;
  readonly source?: Address | undefined;
  readonly onlink: boolean;
  /** The kernel does not use it, e.g. because the link is down. */
  readonly dead: boolean;
  /** Has more than one next hop, or a gateway of the other family. */
  readonly complex: boolean;
}

/** Routes of one family, filtered by the kernel where it can and by us in any case. Throws NetlinkError. */
export function listRoutes(
  socket: NetlinkSocket,
  filter: { family: Family; protocol?: number; table?: number },
): KernelRoute[] {
  const { family, protocol = 0, table = 0 } = filter;
  const payload = routeHeader({ family: familyNumber(family), table, protocol, scope: 0, type: 0 });
  if (table > 255) payload.attributeU32(RTA_TABLE, table);
  const request = { type: RTM_GETROUTE, payload: payload.finish(), what: `list IPv${family} routes` };
  const found: KernelRoute[] = [];
  for (const message of socket.dump(request)) {
    const route = parseRoute(message);
    if (route === undefined || route.family !== family) continue;
    if (protocol !== 0 && route.protocol !== protocol) continue;
    if (table !== 0 && route.table !== table) continue;
    found.push(route);
  }
  return found;
}

/** The route that a message tells of; undefined for garbage, cache entries and other families. */
export function parseRoute(message: NetlinkMessage): KernelRoute | undefined {
  const { payload } = message;
  const family = familyOfNumber(payload[0]);
  const length = payload[1];
  const flags = readU32(payload, 8);
  if (family === undefined || length === undefined || flags === undefined) return undefined;
  if (length > familyBits(family) || (flags & RTM_F_CLONED) !== 0) return undefined;
  const attributes = readAttributes(payload.subarray(ROUTE_HEADER));
  const base = attributes.has(RTA_DST)
    ? readAddress(attributes.get(RTA_DST), family)
    : makeAddress(family, 0n);
  if (base === undefined) return undefined;
  const kind = kindOf(payload[7]);
  return {
    family,
    table: readU32(attributes.get(RTA_TABLE)) ?? payload[4] ?? 0,
    destination: makePrefix(base, length),
    metric: metricFromKernel(family, readU32(attributes.get(RTA_PRIORITY)) ?? 0),
    protocol: payload[5] ?? 0,
    kind,
    // IPv6 names the loopback link in routes that go nowhere.
    link: kind === "unicast" ? readU32(attributes.get(RTA_OIF)) : undefined,
    gateway: readAddress(attributes.get(RTA_GATEWAY), family),
    source: readAddress(attributes.get(RTA_PREFSRC), family),
    onlink: (flags & RTNH_F_ONLINK) !== 0,
    dead: (flags & RTNH_F_DEAD) !== 0,
    complex: attributes.has(RTA_MULTIPATH) || attributes.has(RTA_VIA),
  };
}

/** A route to write. */
export type RouteToWrite = Pick<
  KernelRoute,
  "table" | "destination" | "metric" | "protocol" | "link" | "gateway" | "source"
> & { readonly kind: "unicast" | "unreachable" };

/** Sets a route; `flags` says what happens when the place is taken. With a gateway it is onlink. */
export function addRouteRequest(route: RouteToWrite, flags: number, what: string): NetlinkRequest {
  const direct = route.kind === "unicast" && route.gateway === undefined;
  const scope = direct && route.destination.family === 4 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  const payload = routePayload(route, scope, typeOf(route));
  if (route.source !== undefined) payload.attribute(RTA_PREFSRC, addressToBytes(route.source));
  return { type: RTM_NEWROUTE, flags, payload: payload.finish(), what };
}

/**
 * Removes exactly this route: one with another protocol, kind, link or gateway is not meant. A unicast route without link stands for
 * one that this driver does not write (blackhole, several next hops): its kind is not compared. ESRCH when there is none.
 */
export function removeRouteRequest(route: RouteToWrite, what: string): NetlinkRequest {
  const anyKind = route.kind === "unicast" && route.link === undefined;
  const payload = routePayload(route, RT_SCOPE_NOWHERE, anyKind ? RTN_UNSPEC : typeOf(route)).finish();
  return { type: RTM_DELROUTE, payload, what };
}

function routePayload(route: RouteToWrite, scope: number, type: number): ByteWriter {
  const { destination } = route;
  const payload = routeHeader({
    family: familyNumber(destination.family),
    length: destination.length,
    table: route.table,
    protocol: route.protocol,
    scope,
    type,
    flags: route.gateway === undefined ? 0 : RTNH_F_ONLINK,
  });
  payload.attribute(RTA_DST, addressToBytes(destination.base));
  payload.attributeU32(RTA_TABLE, route.table);
  payload.attributeU32(RTA_PRIORITY, metricToKernel(destination.family, route.metric));
  if (route.gateway !== undefined) payload.attribute(RTA_GATEWAY, addressToBytes(route.gateway));
  if (route.link !== undefined) payload.attributeU32(RTA_OIF, route.link);
  return payload;
}

function routeHeader(header: {
  family: number;
  length?: number;
  table: number;
  protocol: number;
  scope: number;
  type: number;
  flags?: number;
}): ByteWriter {
  const writer = new ByteWriter()
    .u8(header.family)
    .u8(header.length ?? 0)
    .u8(0)
    .u8(0);
  writer.u8(header.table > 255 ? 0 : header.table).u8(header.protocol);
  writer.u8(header.scope).u8(header.type);
  return writer.u32(header.flags ?? 0);
}

function kindOf(type: number | undefined): KernelRoute["kind"] {
  if (type === RTN_UNICAST) return "unicast";
  return type === RTN_UNREACHABLE ? "unreachable" : "other";
}

function typeOf(route: RouteToWrite): number {
  return route.kind === "unicast" ? RTN_UNICAST : RTN_UNREACHABLE;
}

function metricToKernel(family: Family, metric: number): number {
  return family === 6 && metric === 0 ? V6_DEFAULT_METRIC : metric;
}

function metricFromKernel(family: Family, metric: number): number {
  return family === 6 && metric === V6_DEFAULT_METRIC ? 0 : metric;
}
