/** What the hostname resolves to: the first of the hints by which the host's addresses are chosen (kilo.md §4). */
import { setTimeout as pause } from "node:timers/promises";
import { type Address, parseAddress } from "../ip/index.ts";

/** Hosts that know their own name answer from a file. One whose name server is dead must not wait for it: the other hints do as well. */
const LONGEST_WAIT_MS = 1_000;

/** Its addresses, empty when there are none or they do not come in time. Asked once, at the start: addresses in use do not follow a name. */
export async function hostnameAddresses(
  hostname: string,
  lookup: (name: string) => Promise<readonly string[]>,
): Promise<Address[]> {
  const answer = lookup(hostname).catch((): string[] => []);
  const late = pause(LONGEST_WAIT_MS, [] as string[], { ref: false });
  const texts = await Promise.race([answer, late]);
  return texts.map(parseAddress).filter((address) => address !== undefined);
}
