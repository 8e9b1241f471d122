/** When silence was not the others' fault (design, "Freshness"): turns what the watch heard into what the plan is told. */
import { FRESH_SECONDS, type WatchGap } from "../mesh/index.ts";

/**
 * Our own check-in comes back by the watch every 30 s, and it takes some hundred milliseconds: who hears nothing for longer was cut off,
 * and so may others have been. Not the 60 s of the design: a node that had checked in 30 s before a cut of 31 s is 61 s old after it.
 */
const SILENCE_SECONDS = 32;

/**
 * Remembers the last gap in what was heard. While the API server was away, or all agents were, nobody could check in: every node looks
 * stale in the first list after it, although nothing is wrong with any of them.
 */
export class Freshness {
  #heardAt: number | undefined;
  #ownLastSeen = 0;
  #gap: WatchGap | undefined;

  /**
   * Looks before each pass, and gives the gap that counts in it. All in Unix seconds.
   * @param heardAt when the API server was last heard
   * @param ownLastSeen our own check-in, 0 for none: at the first look it tells when an agent ran here last
   */
  look(heardAt: number, ownLastSeen: number): WatchGap | undefined {
    const since = this.#heardAt ?? ownLastSeen;
    this.#heardAt = heardAt;
    this.#ownLastSeen = ownLastSeen;
    if (since > 0 && heardAt - since >= SILENCE_SECONDS) {
      this.#gap = { gapStart: this.#unendedGap(since, ownLastSeen)?.gapStart ?? since, listedAt: heardAt };
    }
    return this.#openGap(heardAt);
  }

  /** The API server was heard between two looks. */
  hear(heardAt: number): void {
    if (this.#heardAt !== undefined) this.look(heardAt, this.#ownLastSeen);
  }

  /**
   * The gap that another silence makes longer: nobody could check in between the two. Once our own check-in came through, others' could too;
   * else a slow API server, whose answers take the check-in's period beyond the limit, would keep a dead node alive for ever.
   */
  #unendedGap(at: number, ownLastSeen: number): WatchGap | undefined {
    const gap = this.#openGap(at);
    return gap !== undefined && ownLastSeen < gap.listedAt ? gap : undefined;
  }

  /** A gap counts while others may not have checked in after it. A clock that was set back by more ends it: its times mean nothing any more. */
  #openGap(at: number): WatchGap | undefined {
    const age = this.#gap === undefined ? Number.NaN : at - this.#gap.listedAt;
    if (!(Math.abs(age) < FRESH_SECONDS)) this.#gap = undefined;
    return this.#gap;
  }
}
