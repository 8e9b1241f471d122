/** What address discovery and the MTU need to know of a host. */
import { readFile } from "node:fs/promises";
import { MAIN_TABLE, ROUTE_PROTOCOL } from "../mesh/index.ts";
import { type Link, listLinks } from "./links.ts";
import { type LinkAddress, listAddresses } from "./links-addresses.ts";
import { isNetlinkError, type NetlinkSocket } from "./netlink/index.ts";
import { FAMILIES } from "./netlink/rtnetlink.ts";
import type { HostFacts, LinkFact, LinkNames } from "./ports.ts";
import { type KernelRoute, listRoutes } from "./routes-codec.ts";

/** Reads links, addresses and the default route. Throws NetlinkError. */
export function readFacts(socket: NetlinkSocket, names: LinkNames): HostFacts {
  const addresses = listAddresses(socket);
  const links = listLinks(socket).map((link) => toFact(link, addresses));
  return { links, defaultRoute: findDefault(socket, links, names) };
}

/** Whether this network namespace forwards IPv4 packets. */
export async function forwardsPackets(): Promise<boolean> {
  return (await readFile("/proc/sys/net/ipv4/ip_forward", "utf8")).trim() !== "0";
}

function toFact(link: Link, addresses: readonly LinkAddress[]): LinkFact {
  const own = addresses.filter((address) => address.link === link.index && !address.transient);
  return { ...link, addresses: own.map((address) => address.on) };
}

/** Own routes and the mesh link are left out: the MTU would shrink with each reconcile (kilo.md B43). */
function findDefault(
  socket: NetlinkSocket,
  links: readonly LinkFact[],
  names: LinkNames,
): HostFacts["defaultRoute"] {
  for (const family of FAMILIES) {
    const candidates = listMain(socket, family)
      .filter((route) => route.destination.length === 0 && route.kind === "unicast" && !route.dead)
      .filter((route) => route.protocol !== ROUTE_PROTOCOL)
      .sort((a, b) => a.metric - b.metric)
      .map((route) => links.find((link) => link.index === route.link))
      .filter((link) => link !== undefined)
      .filter((link) => names.roleOf(link.name) !== "mesh");
    const best = candidates[0];
    if (best !== undefined) return { link: best.name, mtu: best.mtu };
  }
  return undefined;
}

function listMain(socket: NetlinkSocket, family: 4 | 6): KernelRoute[] {
  try {
    return listRoutes(socket, { family, table: MAIN_TABLE });
  } catch (error) {
    // The kernel was started without this family, or has no route of it.
    if (isNetlinkError(error, "ENOENT", "EAFNOSUPPORT", "EOPNOTSUPP")) return [];
    throw error;
  }
}
