/** Tunnel addresses: the k-th segment in sorted order gets the k-th address of the subnet (kilo.md §5.3). */
import { type Address, addressAt, lastAddress, type Prefix } from "../../ip/index.ts";
import type { Mode } from "../facts/mode.ts";

/** Networks of these lengths have no broadcast address (RFC 3021, RFC 4291). */
const LONGEST_WITH_BROADCAST = 30;

/**
 * The address of the segment with this position (from 1); undefined when the subnet is exhausted.
 * Kilo gives out the broadcast address like any other, and a mixed mesh must agree; when all agents are ours it is left out (report S-05).
 */
export function tunnelAddress(subnet: Prefix, position: number, mode: Mode): Address | undefined {
  const address = addressAt(subnet, position);
  if (address === undefined || mode === "kilo") return address;
  const hasBroadcast = subnet.family === 4 && subnet.length <= LONGEST_WITH_BROADCAST;
  return hasBroadcast && address.text === lastAddress(subnet).text ? undefined : address;
}

/** The position of a tunnel address, as `tunnelAddress` counts; 0 or less, or beyond all positions, for any other address. */
export function positionOf(subnet: Prefix, address: Address): number {
  return address.family === subnet.family ? Number(address.value - subnet.base.value) : 0;
}
