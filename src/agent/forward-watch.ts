/** Foreign firewalls that drop forwarded packets (report K-60): found at the start and after the firewall changed, told once. */
import type { HostDriver } from "../linux/index.ts";
import { createWarnOnce, type Logger, type WarnOnce } from "../telemetry/index.ts";
import type { AgentMetrics } from "./metrics.ts";

/** Looking starts a process, so it is done seldom: other firewalls are set up at boot, when a package is installed, or by hand. */
const LOOK_MS = 10 * 60_000;

export interface ForwardWatchParts {
  readonly host: Pick<HostDriver, "foreignForwardDrops">;
  readonly log: Logger;
  readonly metrics: Pick<AgentMetrics, "foreignDrops">;
}

export class ForwardWatch {
  readonly #parts: ForwardWatchParts;
  readonly #told: WarnOnce;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(parts: ForwardWatchParts) {
    this.#parts = parts;
    this.#told = createWarnOnce(parts.log.component("firewall"));
  }

  start(): void {
    this.#timer ??= setInterval(() => this.look(), LOOK_MS);
    this.look();
  }

  /** Looks once; while a look is under way, nothing more. */
  look(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    try {
      const drops = await this.#parts.host.foreignForwardDrops();
      this.#parts.metrics.foreignDrops.set(drops.length);
      this.#told.replace(
        drops.map((where) => ({
          key: where,
          message:
            "a foreign firewall drops forwarded packets: pods and locations will not reach each other unless it accepts them",
          context: { where },
        })),
      );
    } catch (error) {
      this.#parts.log.debug("cannot look for foreign firewalls", { error });
    }
  }
}
