/** The encapsulation device (kilo.md §6.3). */
import { addressAt, interfaceAddress } from "../../ip/index.ts";
import type { TunnelLink } from "../host-state.ts";
import type { MeshOptions, OwnHost } from "../options.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * The IPIP device, with the first address of the own pod CIDR where kg manages the location. Undefined without encapsulation, and with
 * flannel, whose device is its own. Its MTU is the mesh link's, which leaves room for the outer header on any link that carries the mesh.
 */
export function tunnelLink(topology: Topology, options: MeshOptions, own: OwnHost): TunnelLink | undefined {
  const { ownNode } = topology;
  if (ownNode === undefined || options.encapsulate === "never" || options.compatibility === "flannel")
    return undefined;
  const podCIDR = ownNode.podCIDRs.find(({ family }) => family === 4);
  const address = options.local && podCIDR ? addressAt(podCIDR, 1) : undefined;
  return { up: true, mtu: own.mtu, addresses: address === undefined ? [] : [interfaceAddress(address, 32)] };
}
