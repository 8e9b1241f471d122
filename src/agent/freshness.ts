/** When silence was not the others' fault (design, "Freshness"): turns what the watch heard into what the plan is told. */
import { FRESH_SECONDS, type WatchGap } from "../mesh/index.ts";

/**
 * Our own check-in comes back by the watch every 30 s, and it takes some hundred milliseconds: who hears nothing for longer was cut off,
 * and so may others have been.
 */
const SILENCE_SECONDS = 32;

/**
 * Remembers the last gap in what was heard. While the API server was away, or all agents were, nobody could check in: every node looks
 * stale in the first list after it, although nothing is wrong with any of them.
 */
export class Freshness {
  #heardAt: number | undefined;
  #gap: WatchGap | undefined;

  /**
   * Looks before each pass, and gives the gap that counts in it. All in Unix seconds.
   * @param heardAt when the API server was last heard
   * @param ownLastSeen our own check-in, 0 for none: at the first look it tells when an agent ran here last
   */
  look(heardAt: number, ownLastSeen: number): WatchGap | undefined {
    const since = this.#heardAt ?? ownLastSeen;
    this.#heardAt = heardAt;
    if (since > 0 && heardAt - since >= SILENCE_SECONDS) {
      this.#gap = { gapStart: this.#openGap(since)?.gapStart ?? since, listedAt: heardAt };
    }
    return this.#openGap(heardAt);
  }

  /** The API server was heard between two looks. */
  hear(heardAt: number): void {
    if (this.#heardAt !== undefined) this.look(heardAt, 0);
  }

  /** A gap counts while others may not have checked in after it; one that begins in that time makes it longer. */
  #openGap(at: number): WatchGap | undefined {
    return this.#gap !== undefined && at - this.#gap.listedAt < FRESH_SECONDS ? this.#gap : undefined;
  }
}
