/** External Peers in the order and with the allowed IPs that Kilo gives them (kilo.md §5.4). */
import type { InterfaceAddress } from "../../ip/index.ts";
import type { ReadyPeer } from "../facts/readiness.ts";
import { compareNames } from "./order.ts";

export interface ExternalPeer {
  readonly name: string;
  readonly facts: ReadyPeer;
  /** As written; what is left after an earlier Peer has taken the same text. May be empty. */
  readonly allowedIPs: readonly InterfaceAddress[];
}

/** Sorted by name; an allowed IP stays with the first Peer that has the exact text, also within one Peer. Overlaps stay. */
export function deduplicatePeers(peers: readonly ReadyPeer[]): ExternalPeer[] {
  const taken = new Set<string>();
  return [...peers].sort(compareNames).map((facts) => {
    const allowedIPs = facts.writtenAllowedIPs.filter(({ text }) => {
      const isFree = !taken.has(text);
      taken.add(text);
      return isFree;
    });
    return { name: facts.name, facts, allowedIPs };
  });
}
