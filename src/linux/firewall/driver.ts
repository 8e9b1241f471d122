/** kg's nftables table on a real host. `nft` is started to write, and to read after somebody else wrote; at rest nothing runs. */
import {
  applyToFirewall,
  type Firewall,
  type FirewallChange,
  NFT_TABLE,
  type SetChange,
} from "../../mesh/index.ts";
import { InTurn } from "../in-turn.ts";
import type { NetlinkPort } from "../netlink/index.ts";
import type { FirewallDriver, LinkNames } from "../ports.ts";
import { requireTools } from "../tools.ts";
import { DriftWatch } from "./drift.ts";
import { FirewallError } from "./errors.ts";
import { lookForForeignDrops } from "./foreign.ts";
import { ForeignWatch } from "./foreign-watch.ts";
import { parseListing, readFirewall } from "./listing.ts";
import { firstLine, runProgram } from "./nft.ts";
import { renderElements, renderRemoval, renderTable } from "./render.ts";
import { guardOf, hasIPv6, TABLE_FAMILY } from "./rules.ts";

export interface FirewallOptions {
  readonly links: LinkNames;
  /** Search path for nft. @default $PATH */
  readonly path?: string | undefined;
  /** Calls below netlink. @default the native addon */
  readonly port?: NetlinkPort | undefined;
}

/**
 * Makes the driver and begins to listen to nftables' events. Throws MissingToolError (package nftables) or AddonError. Nothing on the host
 * is changed.
 */
export function createFirewallDriver(options: FirewallOptions): FirewallDriver {
  return new NftablesDriver(options);
}

const TABLE = `${TABLE_FAMILY} ${NFT_TABLE}`;

class NftablesDriver implements FirewallDriver {
  readonly #nft: string;
  readonly #links: LinkNames;
  readonly #drift: DriftWatch;
  readonly #foreign = new ForeignWatch();
  readonly #listeners = new Set<() => void>();
  /** What the table is known to be, as long as nobody else writes; undefined: has to be listed. */
  #known: Known | undefined;
  /** Counts changes by others. */
  #epoch = 0;
  /** What is known must not change under an operation. */
  readonly #turn = new InTurn();

  constructor(options: FirewallOptions) {
    this.#nft = requireTools(["nft"], options.path).nft;
    this.#links = options.links;
    this.#drift = new DriftWatch({
      onForeign: () => this.#changedByOthers(),
      onOther: (message) => this.#foreign.take(message),
      onOverrun: () => this.#foreign.changed(),
      port: options.port,
    });
  }

  read(): Promise<Firewall | undefined> {
    return this.#turn.run(() => this.#read());
  }

  apply(change: FirewallChange, signal: AbortSignal): Promise<void> {
    return this.#turn.run(async () => {
      if (change.kind === "replace") await this.#replace(change.firewall, signal);
      else await this.#changeElements(change.sets, signal);
    });
  }

  remove(): Promise<readonly string[]> {
    return this.#turn.run(async () => {
      const listing = await runProgram(this.#nft, ["-j", "list", "table", TABLE_FAMILY, NFT_TABLE], "");
      if (listing.status !== 0) return [];
      await this.#write(renderRemoval(), undefined);
      return [`nftables table ${TABLE}`];
    });
  }

  async foreignForwardDrops(): Promise<readonly string[]> {
    const { drops, chains } = await lookForForeignDrops(this.#nft);
    this.#foreign.found(chains);
    return drops;
  }

  watchForeign(listener: () => void): () => void {
    return this.#foreign.watch(listener);
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#drift.close();
    this.#foreign.close();
  }

  async #read(): Promise<Firewall | undefined> {
    // A link that got another name makes the guard another one, though nobody wrote.
    if (this.#known !== undefined && this.#known.guard === this.#guardText(this.#known.firewall))
      return this.#known.firewall;
    const epoch = this.#epoch;
    const { status, output, complaint } = await runProgram(
      this.#nft,
      ["-j", "list", "table", TABLE_FAMILY, NFT_TABLE],
      "",
    );
    if (status !== 0 && !complaint.includes("No such file or directory")) {
      throw new FirewallError(
        "FIREWALL_REFUSED",
        `cannot list nftables table ${TABLE}: ${firstLine(complaint)}`,
      );
    }
    const firewall =
      status === 0 ? readFirewall(parseListing(output), (role) => this.#links.nameOf(role)) : undefined;
    this.#learn(firewall, epoch);
    return firewall;
  }

  async #replace(firewall: Firewall, signal: AbortSignal): Promise<void> {
    await this.#write(
      renderTable(firewall, (role) => this.#links.nameOf(role)),
      firewall,
      signal,
    );
  }

  async #changeElements(changes: readonly SetChange[], signal: AbortSignal): Promise<void> {
    if (changes.every((change) => change.add.length === 0 && change.remove.length === 0)) return;
    const before = await this.#read();
    if (before === undefined) {
      throw new FirewallError(
        "FIREWALL_CHANGED",
        `cannot change sets of nftables table ${TABLE}: it is missing or was changed by somebody`,
      );
    }
    const after = applyToFirewall(before, changes);
    // The first or last IPv6 prefix changes the rules as well.
    if (hasIPv6(before) !== hasIPv6(after)) return this.#replace(after, signal);
    try {
      await this.#write(renderElements(changes), after, signal);
    } catch (error) {
      // Older kernels refuse some sequences of overlapping intervals; the whole table anew is the same state.
      if (!(error instanceof FirewallError) || error.code !== "FIREWALL_REFUSED") throw error;
      await this.#replace(after, signal);
    }
  }

  /** Writes one transaction, after which the table is `result`. */
  async #write(text: string, result: Firewall | undefined, signal?: AbortSignal): Promise<void> {
    const epoch = this.#epoch;
    // A transaction that is broken off may have been done or not.
    this.#known = undefined;
    await this.#drift.own(async () => {
      const { status, complaint } = await runProgram(this.#nft, ["-f", "-"], text, signal);
      if (status === 0) return;
      throw new FirewallError(
        "FIREWALL_REFUSED",
        `cannot write nftables table ${TABLE}: ${firstLine(complaint)}`,
      );
    });
    this.#learn(result, epoch);
  }

  /** What was read or written counts only if nobody else has written since `epoch`. */
  #learn(firewall: Firewall | undefined, epoch: number): void {
    if (this.#epoch === epoch) this.#known = { firewall, guard: this.#guardText(firewall) };
  }

  #guardText(firewall: Firewall | undefined): string {
    const guard = guardOf(firewall?.remoteInternalLink, (role) => this.#links.nameOf(role));
    return JSON.stringify(guard ?? "");
  }

  #changedByOthers(): void {
    this.#epoch++;
    this.#known = undefined;
    for (const listener of this.#listeners) listener();
  }
}

/** What the table is, and the guard's link at that time. */
interface Known {
  readonly firewall: Firewall | undefined;
  readonly guard: string;
}
