/** How packets cross a location: plainly, or encapsulated towards a gateway (kilo.md §6.2, §6.3). */
import { type Address, containsAddress, type Family, networkOf } from "../../ip/index.ts";
import type { NodeFacts } from "../facts/node.ts";
import type { Compatibility, Encapsulation } from "../options.ts";

export interface LocationRules {
  /** Manage routes inside the own location. */
  readonly local: boolean;
  readonly encapsulate: Encapsulation;
  readonly compatibility: Compatibility;
}

/** Where packets for a node go inside its location; undefined when it has no address of this family there. */
export function gatewayOf(
  node: NodeFacts,
  family: Family,
  compatibility: Compatibility,
): Address | undefined {
  if (compatibility === "none") return internalIPOf(node, family);
  const podBase = node.podCIDRs.find((prefix) => prefix.family === family)?.base;
  if (compatibility === "flannel") return podBase;
  return node.cniCompatibilityIP?.family === family ? node.cniCompatibilityIP : podBase;
}

/** The internal IP of a family. */
export function internalIPOf(node: NodeFacts, family: Family): Address | undefined {
  return node.internalIPs.find(({ address }) => address.family === family)?.address;
}

/** Whether packets to this address are encapsulated on the way out of `from`. */
export function isEncapsulated(from: NodeFacts, target: Address, encapsulate: Encapsulation): boolean {
  if (encapsulate !== "crosssubnet") return encapsulate === "always";
  const isNear = from.internalIPs.some((own) => containsAddress(networkOf(own), target));
  return from.internalIPs.length > 0 && !isNear;
}
