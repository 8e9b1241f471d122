/** DNS by hand: what `--resolve NAME=IP` says, and which names were asked for in vain. */
import { type Address, parseAddress } from "../../ip/index.ts";
import { isDnsName } from "../../wireguard/index.ts";
import { UsageError } from "../errors.ts";

/** Answers from a table and remembers what it did not know. */
export class NameTable {
  readonly #addresses: ReadonlyMap<string, readonly Address[]>;
  readonly #unresolved = new Set<string>();

  /** @param given `NAME=IP` each; several for one name are its addresses, best first. @throws UsageError for another form */
  constructor(given: readonly string[]) {
    const addresses = new Map<string, Address[]>();
    for (const text of given) {
      const { name, address } = readEntry(text);
      addresses.set(name, [...(addresses.get(name) ?? []), address]);
    }
    this.#addresses = addresses;
  }

  readonly resolve = (name: string): readonly Address[] | undefined => {
    const addresses = this.#addresses.get(name);
    if (addresses === undefined) this.#unresolved.add(name);
    return addresses;
  };

  /** Names that were asked for and not known, sorted. */
  unresolved(): string[] {
    return [...this.#unresolved].sort();
  }
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
