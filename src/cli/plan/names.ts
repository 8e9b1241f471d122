/** DNS by hand: what `--resolve NAME=IP` says. */
import { type Address, parseAddress } from "../../ip/index.ts";
import type { Resolve } from "../../mesh/index.ts";
import { isDnsName } from "../../wireguard/index.ts";
import { UsageError } from "../errors.ts";

/**
 * Resolves by a table, and nothing else.
 * @param given `NAME=IP` each; several for one name are its addresses, best first
 * @throws UsageError for another form
 */
export function resolveByTable(given: readonly string[]): Resolve {
  const addresses = new Map<string, Address[]>();
  for (const text of given) {
    const { name, address } = readEntry(text);
    addresses.set(name, [...(addresses.get(name) ?? []), address]);
  }
  return (name) => addresses.get(name);
}

function readEntry(text: string): { name: string; address: Address } {
  const equals = text.indexOf("=");
  const name = text.slice(0, Math.max(equals, 0));
  const address = parseAddress(text.slice(equals + 1));
  if (isDnsName(name) && address !== undefined) return { name, address };
  throw new UsageError(
    `cannot use --resolve: not a name and its address like vpn.example.com=192.0.2.1 (${text})`,
  );
}
