/** What keeps a host from forwarding: foreign firewalls that drop (report K-60), and the kernel's own switch. Told once, and when it is gone. */
import type { HostDriver } from "../linux/index.ts";
import { createWarnOnce, type Logger, type Problem, type WarnOnce } from "../telemetry/index.ts";
import type { AgentMetrics } from "./metrics.ts";

export interface ForwardWatchParts {
  readonly host: Pick<HostDriver, "foreignForwardDrops" | "forwardsPackets" | "watchForwarding">;
  readonly log: Logger;
  readonly metrics: Pick<AgentMetrics, "foreignDrops">;
}

/** Looks at the start and when the host says that something changed: looking starts processes, and at rest there are none. */
export class ForwardWatch {
  readonly #parts: ForwardWatchParts;
  readonly #told: WarnOnce;
  /** As last seen: what cannot be looked at now has not gone for that. */
  #drops: readonly Problem[] = [];
  #switch: readonly Problem[] = [];
  #end: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  /** Something changed while a look was under way. */
  #isWanted = false;

  constructor(parts: ForwardWatchParts) {
    this.#parts = parts;
    this.#told = createWarnOnce(parts.log.component("firewall"));
  }

  /** Idempotent. */
  start(): void {
    if (this.#end !== undefined) return;
    this.#end = this.#parts.host.watchForwarding(() => this.#look());
    this.#look();
  }

  /** Idempotent; resolves when a look that is under way has ended. */
  async stop(): Promise<void> {
    this.#end?.();
    this.#end = undefined;
    this.#isWanted = false;
    await this.#looking;
  }

  #look(): void {
    this.#isWanted = true;
    this.#looking ??= this.#lookWhileWanted().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookWhileWanted(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      const failures = [...(await this.#lookAtFirewalls()), ...(await this.#lookAtSwitch())];
      this.#told.replace([...this.#drops, ...this.#switch, ...failures]);
    }
  }

  /** Resolves to what kept it from looking. A host without a usable nft needs the other look most (report K-62). */
  async #lookAtFirewalls(): Promise<Problem[]> {
    try {
      this.#drops = await this.#readDrops();
      return [];
    } catch (error) {
      return [
        {
          key: "look/firewalls",
          message: "cannot look whether a foreign firewall drops forwarded packets",
          context: { error },
        },
      ];
    }
  }

  async #lookAtSwitch(): Promise<Problem[]> {
    try {
      this.#switch = await this.#readSwitch();
      return [];
    } catch (error) {
      return [
        {
          key: "look/ip_forward",
          message: "cannot look whether the host forwards packets",
          context: { error },
        },
      ];
    }
  }

  async #readDrops(): Promise<Problem[]> {
    const drops = await this.#parts.host.foreignForwardDrops();
    this.#parts.metrics.foreignDrops.set(drops.length);
    return drops.map((where) => ({
      key: where,
      message:
        "a foreign firewall drops forwarded packets: pods and locations will not reach each other unless it accepts them",
      context: { where },
    }));
  }

  async #readSwitch(): Promise<Problem[]> {
    if (await this.#parts.host.forwardsPackets()) return [];
    return [{ key: "ip_forward", message: "the host does not forward packets: set net.ipv4.ip_forward=1" }];
  }
}
