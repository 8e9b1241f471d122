/** Faults: what goes wrong in real networks, done to a lab. Each that lasts gives back the function that heals it. */

import { INTERNET } from "./blueprint.ts";
import { run, runIp } from "./command.ts";
import { LabError } from "./errors.ts";
import type { LabHost } from "./host.ts";
import type { Underlay } from "./underlay.ts";

/** Ends a fault. Idempotent. */
export type Heal = () => Promise<void>;

export interface DropOptions {
  /** Host whose packets are dropped on the internet. */
  readonly from: string;
  /** Only those to this host. @default all */
  readonly to?: string | undefined;
  /** Only UDP, e.g. a firewall that eats WireGuard. @default "any" */
  readonly protocol?: "any" | "udp" | "tcp" | undefined;
  /** The way back too. @default true */
  readonly both?: boolean | undefined;
}

export class Faults {
  readonly #underlay: Underlay;
  #dropTables = 0;

  constructor(underlay: Underlay) {
    this.#underlay = underlay;
  }

  /** Pulls a host's cables: all of them, or the one to the internet or to its LAN. */
  async cut(host: string, which: "all" | "internet" | "lan" = "all"): Promise<Heal> {
    const links = this.#underlay
      .linksOf(host)
      .filter((link) => which === "all" || (link.near.namespace === INTERNET) === (which === "internet"));
    if (links.length === 0)
      throw new LabError("missing", `cannot cut ${host}: it has no such link (${which})`);
    for (const link of links) await this.#underlay.cut(link);
    return async () => {
      for (const link of links) await this.#underlay.restore(link);
    };
  }

  /** Drops a host's packets on the internet without a word: carriers stay up, nothing is told to anybody. */
  async drop(options: DropOptions): Promise<Heal> {
    this.#dropTables += 1;
    const table = `fault${this.#dropTables}`;
    const from = this.#publicAddress(options.from);
    const to = options.to === undefined ? undefined : this.#publicAddress(options.to);
    const protocol =
      options.protocol === undefined || options.protocol === "any" ? "" : ` meta l4proto ${options.protocol}`;
    const rules = [`ip saddr ${from}${to === undefined ? "" : ` ip daddr ${to}`}${protocol} drop`];
    if (options.both ?? true)
      rules.push(`ip daddr ${from}${to === undefined ? "" : ` ip saddr ${to}`}${protocol} drop`);
    const chain = ["chain forward {", "type filter hook forward priority filter;", ...rules, "}"].join("\n");
    const internet = this.#underlay.namespace(INTERNET);
    await run(internet, ["nft", "-f", "-"], { input: `table ip ${table} {\n${chain}\n}\n` });
    return async () => {
      // Also when it is healed already: adding first makes deleting succeed.
      await run(internet, ["nft", "-f", "-"], { input: `table ip ${table}\ndelete table ip ${table}\n` });
    };
  }

  /** Deletes a link on a host, e.g. `kilo0`. With a userspace tunnel its process may end by that. */
  async deleteLink(host: LabHost, link: string): Promise<void> {
    await runIp(host.site, [`link del ${link}`]);
  }

  /** Throws away all firewall rules of a host, as a careless service start does. */
  async flushFirewall(host: LabHost): Promise<void> {
    await host.run(["nft", "flush", "ruleset"]);
  }

  #publicAddress(name: string): string {
    const host = this.#underlay.blueprint.hosts.find((candidate) => candidate.name === name);
    const address = host?.publicAddress ?? host?.place?.nat?.address;
    if (address === undefined)
      throw new LabError("missing", `cannot drop packets of ${name}: it has no public address`);
    return address;
  }
}
