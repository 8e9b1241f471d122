/**
 * WireGuard announces nothing, so the device is read: every second while a peer that should talk has no fresh handshake, else with each
 * resync. A newly learned endpoint asks for a pass, which publishes it.
 */
import type { DeviceConfig } from "../wireguard/index.ts";
import { Calling } from "./calling.ts";
import { hasNews, silentPeers, type Whereabouts, whereabouts } from "./handshakes.ts";
import type { AgentParts } from "./parts.ts";

/** Also the bound within which a newly learned endpoint is published. */
const LOOK_MS = 1_000;

export interface DeviceWatchOptions {
  readonly parts: Pick<AgentParts, "host" | "caller" | "log" | "metrics">;
  /** An endpoint was learned, moved or lost. */
  readonly onLearned: () => void;
}

export class DeviceWatch {
  readonly #options: DeviceWatchOptions;
  readonly #calling = new Calling();
  readonly #abort = new AbortController();
  #planned: DeviceConfig | undefined;
  #whereabouts: Whereabouts = new Map();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** Somebody asked for a look while one was under way. */
  #isWanted = false;
  /** This host has another address, and its peers have not been told. */
  #hasMoved = false;

  constructor(options: DeviceWatchOptions) {
    this.#options = options;
  }

  /** A pass ended: this is what the device shall have. Looks at once when something is new. */
  planned(device: DeviceConfig | undefined): void {
    this.#planned = device;
    this.#schedule(0);
  }

  /** Calls every silent peer again from the start: others know us only now. */
  callAgain(): void {
    this.#calling.reset();
    this.#schedule(LOOK_MS);
  }

  /**
   * This host is reached at another address: its peers are told with the next look, by WireGuard itself. Else they send to the old one until
   * they hear from the API server, whose connection went with the old address, or until they miss an answer for 15 s.
   */
  moved(): void {
    this.#hasMoved = true;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #schedule(pause: number): void {
    if (this.#abort.signal.aborted) return;
    if (this.#looking !== undefined) {
      this.#isWanted = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(), pause);
  }

  #begin(): void {
    this.#isWanted = false;
    this.#looking = this.#look()
      .catch((error: unknown) => {
        this.#options.parts.log.debug("cannot read or call the device; another look will", { error });
        return this.#hasMoved;
      })
      .then((again) => {
        this.#looking = undefined;
        if (again || this.#isWanted) this.#schedule(LOOK_MS);
      });
  }

  /** Resolves to whether to look again in a second. */
  async #look(): Promise<boolean> {
    const { host, caller, metrics } = this.#options.parts;
    const planned = this.#planned;
    if (planned === undefined) return false;
    const seen = await host.readDevice();
    if (seen === undefined) return false;
    if (this.#hasMoved) await this.#announce(planned);
    const now = Date.now() / 1000;
    const silent = silentPeers(planned, seen, now);
    metrics.silentPeers.set(silent.length);
    const found = whereabouts(planned, seen, now);
    if (hasNews(this.#whereabouts, found)) this.#options.onLearned();
    this.#whereabouts = found;
    const due = this.#calling.due(silent);
    if (due.length > 0) await caller.renew(due, this.#abort.signal);
    return silent.length > 0 || this.#hasMoved;
  }

  /** The host may move again meanwhile: that has to be told anew. So has what could not be told. */
  async #announce(planned: DeviceConfig): Promise<void> {
    this.#hasMoved = false;
    const everybody = planned.peers.map(({ publicKey }) => publicKey);
    try {
      await this.#options.parts.caller.announce(everybody, this.#abort.signal);
    } catch (error) {
      this.#hasMoved = true;
      throw error;
    }
  }
}
