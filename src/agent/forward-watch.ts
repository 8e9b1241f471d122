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
      try {
        this.#told.replace([...(await this.#drops()), ...(await this.#switch())]);
      } catch (error) {
        this.#parts.log.debug("cannot look for what keeps packets from being forwarded", { error });
      }
    }
  }

  async #drops(): Promise<Problem[]> {
    const drops = await this.#parts.host.foreignForwardDrops();
    this.#parts.metrics.foreignDrops.set(drops.length);
    return drops.map((where) => ({
      key: where,
      message:
        "a foreign firewall drops forwarded packets: pods and locations will not reach each other unless it accepts them",
      context: { where },
    }));
  }

  async #switch(): Promise<Problem[]> {
    if (await this.#parts.host.forwardsPackets()) return [];
    return [{ key: "ip_forward", message: "the host does not forward packets: set net.ipv4.ip_forward=1" }];
  }
}
