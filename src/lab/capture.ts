/** Packets on a wire, to prove what is on it and what is not. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "./command.ts";
import { Daemon } from "./daemon.ts";
import { LabError } from "./errors.ts";

export interface CaptureOptions {
  /** The namespace whose links are looked at; `internet` sees everything that passes between places. */
  readonly site: Site;
  /** A link's name. @default all links of the namespace */
  readonly link?: string | undefined;
  /** pcap filter (pcap-filter(7)). @default everything */
  readonly filter?: string | undefined;
  /** A file of its own. */
  readonly log: string;
}

/** A running capture. It ends with its host. */
export class Capture {
  readonly #tcpdump: Daemon;

  private constructor(tcpdump: Daemon) {
    this.#tcpdump = tcpdump;
  }

  /** Starts capturing; every packet from now on is seen. */
  static async start(options: CaptureOptions): Promise<Capture> {
    const command = ["tcpdump", "-i", options.link ?? "any", "-nn", "-l", "--immediate-mode", "-Z", "root"];
    const tcpdump = await Daemon.start({
      name: `tcpdump on ${options.site.name}`,
      site: options.site,
      command: [...command, options.filter ?? ""],
      log: options.log,
    });
    for (let tries = 0; tries < 300; tries += 1) {
      if (readFileSync(options.log, "utf8").includes("listening on")) return new Capture(tcpdump);
      if (!tcpdump.running) break;
      await sleep(10);
    }
    throw new LabError("process", `cannot capture on ${options.site.name}: ${tcpdump.tail(5)}`);
  }

  /** The packets so far, one a line as tcpdump prints them. */
  packets(): string[] {
    return readFileSync(this.#tcpdump.log, "utf8")
      .split("\n")
      .filter((line) => /^\d\d:\d\d:\d\d\./.test(line));
  }

  /** Ends the capture and gives its packets. */
  async stop(): Promise<string[]> {
    await sleep(IN_THE_PIPE);
    this.#tcpdump.signal("SIGINT");
    await this.#tcpdump.ended;
    return this.packets();
  }
}

/** Milliseconds that a packet may take from the wire into the file. */
const IN_THE_PIPE = 100;

/**
 * Filter for what must never be seen between places, of both families: packets that carry a private or mesh address outside of WireGuard, and
 * anything that is not allowed there. Allowed are WireGuard's UDP, TLS to the API server, ICMP between underlay addresses, and IPv6's
 * neighbour discovery and group reports, which every link sends by itself.
 *
 * @param meshPrefixes prefixes of pods, tunnel addresses and external peers; private ranges (RFC 1918, RFC 6598, RFC 4193) are always among what
 * must not be seen
 * @param allowedTCP ports of the API server
 */
export function leakFilter(meshPrefixes: readonly string[], allowedTCP: readonly number[]): string {
  const hidden = [...PRIVATE_PREFIXES, ...meshPrefixes].map((prefix) => `net ${prefix}`).join(" or ");
  const tcp = allowedTCP.map((port) => `tcp port ${port}`).join(" or ");
  const allowed = ["icmp", "icmp6", GROUP_REPORT, "udp", tcp].filter((part) => part !== "").join(" or ");
  return `(ip or ip6) and ((${hidden}) or not (${allowed}))`;
}

const PRIVATE_PREFIXES = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"];

/** Multicast listener reports stand behind a hop-by-hop header (RFC 3810 §5), where `icmp6` does not look. */
const GROUP_REPORT = "(ip6[6] = 0 and ip6[40] = 58)";
