/** Clean-up: everything that kg ever made on a host, and only that. */
import { failureOf } from "./host-failure.ts";
import { listAddresses, removeAddressRequest } from "./links-addresses.ts";
import { LinksByRole } from "./links-by-role.ts";
import { isNetlinkError, type NetlinkSocket } from "./netlink/index.ts";
import type { ApplyFailure, DeviceDriver, FirewallDriver, LinkNames, Removal } from "./ports.ts";
import { formatRoute, readOwnRoutes, removeRoutes } from "./routes.ts";
import { formatRule, readOwnRules, removeRules } from "./rules.ts";

export interface RemovalParts {
  readonly socket: NetlinkSocket;
  readonly links: LinkNames;
  readonly device: DeviceDriver;
  readonly firewall: FirewallDriver;
}

/**
 * Removes the device with its link, then routes and rules, the addresses of a link that stays because kg did not make it, and the
 * firewall last: while pods' routes are still there, so is what keeps their packets from leaving in clear. What cannot be removed does
 * not keep the rest.
 */
export async function removeEverything(parts: RemovalParts): Promise<Removal> {
  const removed: string[] = [];
  const failures: ApplyFailure[] = [];
  const routes = listRoutes(parts, failures);
  await attempt("mesh", "mesh link", failures, async () => {
    removed.push(...(await parts.device.remove()));
  });
  removed.push(...removeOwnRoutes(parts, routes, failures));
  removed.push(...removeOwnRules(parts, failures));
  removed.push(...removeMeshAddresses(parts, failures));
  await attempt("firewall", "table", failures, async () => {
    removed.push(...(await parts.firewall.remove()));
  });
  return { removed, failures };
}

interface NamedRoute {
  readonly route: ReturnType<typeof readOwnRoutes>[number];
  readonly text: string;
}

function listRoutes(parts: RemovalParts, failures: ApplyFailure[]): NamedRoute[] {
  try {
    const links = LinksByRole.read(parts.socket, parts.links);
    return readOwnRoutes(parts.socket, links).map((route) => {
      const name = route.link === undefined ? undefined : links.get(route.link)?.name;
      return { route, text: `route ${formatRoute(route, name)}` };
    });
  } catch (error) {
    failures.push(failureOf("route", "own routes", error));
    return [];
  }
}

/** Those of the mesh link went with it: they count as removed too. */
function removeOwnRoutes(
  parts: RemovalParts,
  routes: readonly NamedRoute[],
  failures: ApplyFailure[],
): string[] {
  try {
    const links = LinksByRole.read(parts.socket, parts.links);
    failures.push(
      ...removeRoutes(
        parts.socket,
        links,
        routes.map(({ route }) => route),
      ),
    );
    const left = new Set(readOwnRoutes(parts.socket, links).map((route) => route.destination.text));
    return routes.filter(({ route }) => !left.has(route.destination.text)).map(({ text }) => text);
  } catch (error) {
    failures.push(failureOf("route", "own routes", error));
    return [];
  }
}

function removeOwnRules(parts: RemovalParts, failures: ApplyFailure[]): string[] {
  try {
    const rules = readOwnRules(parts.socket, parts.links);
    const failed = removeRules(parts.socket, parts.links, rules);
    failures.push(...failed);
    const nameOf = (role: Parameters<LinkNames["nameOf"]>[0]) => parts.links.nameOf(role);
    return rules
      .map((rule) => formatRule(rule, nameOf))
      .filter((text) => !failed.some((failure) => failure.subject === text))
      .map((text) => `rule ${text}`);
  } catch (error) {
    failures.push(failureOf("rule", "own rules", error));
    return [];
  }
}

/** The mesh link has no addresses but kg's and those that the kernel gives by itself. */
function removeMeshAddresses({ socket, links }: RemovalParts, failures: ApplyFailure[]): string[] {
  try {
    const link = LinksByRole.read(socket, links).get("mesh");
    if (link === undefined) return [];
    const own = listAddresses(socket).filter((address) => address.link === link.index && !address.linkLocal);
    const results = socket.batch(own.map(({ on }) => removeAddressRequest(link, on)));
    return own.flatMap(({ on }, index) => {
      const error = results[index]?.error;
      // The first address of a network takes others along.
      if (error === undefined || isNetlinkError(error, "EADDRNOTAVAIL"))
        return [`address ${on.text} of link ${link.name}`];
      failures.push(failureOf("mesh", link.name, error));
      return [];
    });
  } catch (error) {
    failures.push(failureOf("mesh", "addresses", error));
    return [];
  }
}

async function attempt(
  part: ApplyFailure["part"],
  subject: string,
  failures: ApplyFailure[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    failures.push(failureOf(part, subject, error));
  }
}
