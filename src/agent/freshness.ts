/** How fresh our own view of the cluster is (design, "Freshness"): turns what the watch says into what the plan is told. */
import type { WatchGap } from "../mesh/index.ts";

/** An own check-in that is this old when the watch lives again means that time passed in which nobody could check in. */
const GAP_SECONDS = 60;

/** After this the gap is history: every agent that lives has checked in since. */
const GAP_COUNTS_SECONDS = 120;

/**
 * Remembers the last gap of our own check-ins. While the API server was away, or all agents were, every node looks stale in the first
 * list after it, although nothing is wrong with any of them.
 */
export class Freshness {
  #gap: WatchGap | undefined;

  /** A complete list, or a watch that lives again, shows our own Node with this `last-seen` (Unix seconds, 0 for none). */
  listed(ownLastSeen: number, now: number): void {
    if (ownLastSeen > 0 && now - ownLastSeen >= GAP_SECONDS)
      this.#gap = { gapStart: ownLastSeen, listedAt: now };
  }

  /** The gap that still counts. */
  gap(now: number): WatchGap | undefined {
    if (this.#gap !== undefined && now - this.#gap.listedAt > GAP_COUNTS_SECONDS) this.#gap = undefined;
    return this.#gap;
  }
}
