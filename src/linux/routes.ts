/** kg's own routes: reading them, setting them without taking a foreign route's place, removing them. */
import { MAIN_TABLE, POLICY_TABLE, ROUTE_PROTOCOL, type Route, routeKey } from "../mesh/index.ts";
import { failureOf, refusal } from "./host-failure.ts";
import type { LinksByRole } from "./links-by-role.ts";
import {
  isNetlinkError,
  type NetlinkSocket,
  NLM_F_CREATE,
  NLM_F_EXCL,
  NLM_F_REPLACE,
} from "./netlink/index.ts";
import { FAMILIES } from "./netlink/rtnetlink.ts";
import type { ApplyFailure } from "./ports.ts";
import {
  addRouteRequest,
  type KernelRoute,
  listRoutes,
  type RouteToWrite,
  removeRouteRequest,
} from "./routes-codec.ts";

const TABLES: readonly number[] = [MAIN_TABLE, POLICY_TABLE];

/** A route with the kernel's numbers, and its name in failures. */
interface Job {
  readonly route: Route;
  readonly write: RouteToWrite;
  readonly text: string;
}

/** kg's own routes: those of its protocol in the tables that it uses. Throws NetlinkError. */
export function readOwnRoutes(socket: NetlinkSocket, links: LinksByRole): Route[] {
  return listOwn(socket).map((route) => fromKernel(route, links));
}

/**
 * Sets routes: a place that is free is taken; an own route in it is replaced; a foreign one is left and reported (kilo.md B50: a route
 * of flannel's or of a DHCP client's must not vanish). Throws NetlinkError only when the socket itself fails.
 */
export function setRoutes(
  socket: NetlinkSocket,
  links: LinksByRole,
  routes: readonly Route[],
): ApplyFailure[] {
  const { jobs, failures } = prepare(links, routes);
  const requests = jobs.map((job) =>
    addRouteRequest(job.write, NLM_F_CREATE | NLM_F_EXCL, `add route ${job.text}`),
  );
  const taken: Job[] = [];
  for (const [index, result] of socket.batch(requests).entries()) {
    const job = jobs[index];
    if (job === undefined || result.error === undefined) continue;
    if (result.error.code === "EEXIST") taken.push(job);
    else failures.push(failureOf("route", job.text, result.error));
  }
  if (taken.length > 0) failures.push(...replaceOwn(socket, taken));
  return failures;
}

/** Removes own routes. One that is gone already is no failure. Throws NetlinkError only when the socket itself fails. */
export function removeRoutes(
  socket: NetlinkSocket,
  links: LinksByRole,
  routes: readonly Route[],
): ApplyFailure[] {
  const failures: ApplyFailure[] = [];
  const jobs = routes.map((route) => toJob(links, route));
  const requests = jobs.map((job) => removeRouteRequest(job.write, `remove route ${job.text}`));
  for (const [index, result] of socket.batch(requests).entries()) {
    const job = jobs[index];
    if (job === undefined || result.error === undefined || isGone(result.error)) continue;
    failures.push(failureOf("route", job.text, result.error));
  }
  return failures;
}

/** As `ip route` writes it, with the link's name where there is one. */
export function formatRoute(route: Route, linkName: string | undefined): string {
  const words = [route.destination.text];
  if (route.kind === "unreachable") words.unshift("unreachable");
  if (route.gateway !== undefined) words.push("via", route.gateway.text);
  if (linkName !== undefined) words.push("dev", linkName);
  if (route.source !== undefined) words.push("src", route.source.text);
  if (route.metric !== 0) words.push("metric", String(route.metric));
  if (route.table !== MAIN_TABLE) words.push("table", String(route.table));
  return words.join(" ");
}

function listOwn(socket: NetlinkSocket): KernelRoute[] {
  return FAMILIES.flatMap((family) => listRoutesOrNone(socket, family)).filter((route) =>
    TABLES.includes(route.table),
  );
}

function listRoutesOrNone(socket: NetlinkSocket, family: 4 | 6): KernelRoute[] {
  try {
    return listRoutes(socket, { family, protocol: ROUTE_PROTOCOL });
  } catch (error) {
    // The kernel was started without this family, or a table has never been used.
    if (isNetlinkError(error, "ENOENT", "EAFNOSUPPORT", "EOPNOTSUPP")) return [];
    throw error;
  }
}

/** What this driver does not write (several next hops, blackholes) reads as a unicast route without link: it equals no planned one. */
function fromKernel(route: KernelRoute, links: LinksByRole): Route {
  const strange = route.kind === "other" || route.complex;
  const { destination, table, metric, gateway, source } = route;
  if (route.kind === "unreachable") return { kind: "unreachable", destination, table, metric };
  return {
    kind: "unicast",
    destination,
    link: strange ? undefined : links.roleAt(route.link),
    gateway,
    source,
    table,
    metric,
  };
}

function toJob(links: LinksByRole, route: Route): Job {
  const link = route.link === undefined ? undefined : links.get(route.link);
  const { kind, destination, table, metric, gateway, source } = route;
  return {
    route,
    text: formatRoute(route, link?.name ?? route.link),
    write: { kind, destination, table, metric, gateway, source, link: link?.index, protocol: ROUTE_PROTOCOL },
  };
}

/** Sorts out what the kernel would misread: families that do not fit (kilo.md B10), and links that are not there. */
function prepare(links: LinksByRole, routes: readonly Route[]): { jobs: Job[]; failures: ApplyFailure[] } {
  const jobs: Job[] = [];
  const failures: ApplyFailure[] = [];
  for (const route of routes) {
    const job = toJob(links, route);
    const { family } = route.destination;
    const mixed = [route.gateway, route.source].find(
      (address) => address !== undefined && address.family !== family,
    );
    if (mixed !== undefined) {
      const message = `cannot add route ${job.text}: ${mixed.text} is of another address family`;
      failures.push(refusal("route", job.text, "FAMILY", message));
    } else if (route.kind === "unicast" && job.write.link === undefined) {
      const message = `cannot add route ${job.text}: this host has no ${route.link ?? "such"} link`;
      failures.push(refusal("route", job.text, "ENODEV", message));
    } else {
      jobs.push(job);
    }
  }
  return { jobs, failures };
}

/** The places of these routes are taken: replaces own routes, reports foreign ones by name. */
function replaceOwn(socket: NetlinkSocket, taken: readonly Job[]): ApplyFailure[] {
  const own = new Map(listOwn(socket).map((route) => [routeKey(route), route]));
  const foreign = taken.filter((job) => !own.has(routeKey(job.route)));
  const ours = taken.filter((job) => own.has(routeKey(job.route)));
  const failures = reportForeign(socket, foreign);

  const replacements = ours.map((job) =>
    addRouteRequest(job.write, NLM_F_REPLACE, `replace route ${job.text}`),
  );
  for (const [index, result] of socket.batch(replacements).entries()) {
    const job = ours[index];
    const old = job === undefined ? undefined : own.get(routeKey(job.route));
    if (job === undefined || old === undefined || result.error === undefined) continue;
    // Gone meanwhile; or, in kernels before 5.6, an IPv6 route with gateway that one without shall replace.
    const error = result.error.code === "ENOENT" ? changeByHand(socket, job, old) : result.error;
    if (error !== undefined) failures.push(failureOf("route", job.text, error));
  }
  return failures;
}

function changeByHand(socket: NetlinkSocket, job: Job, old: KernelRoute): Error | undefined {
  const kind = old.kind === "unreachable" ? "unreachable" : "unicast";
  const [, added] = socket.batch([
    removeRouteRequest({ ...old, kind }, `replace route ${job.text}`),
    addRouteRequest(job.write, NLM_F_CREATE | NLM_F_EXCL, `replace route ${job.text}`),
  ]);
  return added?.error;
}

/** One look at each table and family concerned, for the names of the routes that are in the way. */
function reportForeign(socket: NetlinkSocket, jobs: readonly Job[]): ApplyFailure[] {
  const wanted = new Set(jobs.map((job) => routeKey(job.route)));
  const found = new Map<string, KernelRoute>();
  const places = new Set(jobs.map((job) => `${job.route.destination.family} ${job.route.table}`));
  for (const place of places) {
    const [family, table] = place.split(" ").map(Number);
    for (const route of listRoutes(socket, { family: family === 6 ? 6 : 4, table: table ?? 0 })) {
      const key = routeKey(route);
      if (wanted.has(key)) found.set(key, route);
    }
  }
  return jobs.map((job) => {
    const other = found.get(routeKey(job.route));
    const name = other === undefined ? "a foreign route" : `the foreign route ${describeForeign(other)}`;
    return refusal("route", job.text, "EEXIST", `cannot add route ${job.text}: ${name} has its place`);
  });
}

function describeForeign(route: KernelRoute): string {
  const gateway = route.gateway === undefined ? "" : ` via ${route.gateway.text}`;
  const link = route.link === undefined ? "" : ` link ${route.link}`;
  const kind = route.kind === "unicast" ? "" : `${route.kind} `;
  return `${kind}${route.destination.text}${gateway}${link} metric ${route.metric} proto ${route.protocol}`;
}

function isGone(error: Error): boolean {
  return isNetlinkError(error, "ESRCH", "ENOENT", "ENODEV");
}
