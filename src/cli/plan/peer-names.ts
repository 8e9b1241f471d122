/** Whose key it is: plans name peers by key, people know them by name. */
import type { Topology } from "../../mesh/index.ts";
import type { PublicKey } from "../../wireguard/index.ts";

/** `Node b1, leader of location:B` or `Peer lap`; undefined for a key that nobody has. */
export type NameOfKey = (key: PublicKey) => string | undefined;

/** Names of the keys in these topologies; where a key changed hands, the first topology counts. */
export function nameKeys(...topologies: readonly Topology[]): NameOfKey {
  const names = new Map<PublicKey, string>();
  const add = (key: PublicKey, name: string) => {
    if (!names.has(key)) names.set(key, name);
  };
  for (const { segments, peers } of topologies) {
    for (const { leader, name } of segments) add(leader.publicKey, `Node ${leader.name}, leader of ${name}`);
    for (const { facts, name } of peers) add(facts.publicKey, `Peer ${name}`);
  }
  return (key) => names.get(key);
}
