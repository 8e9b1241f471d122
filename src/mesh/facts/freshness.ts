/** Which nodes count as alive (kilo.md §2.4; design, "Freshness"). */
import type { WatchGap } from "../options.ts";

/** Kilo's constant: a node that has not checked in for this many seconds is left out. Contract. */
export const FRESH_SECONDS = 60;

export interface FreshnessView {
  /** Unix seconds at which the own watch last heard the API server; the present while it lives. */
  readonly at: number;
  readonly gap?: WatchGap | undefined;
}

/**
 * Whether a node that checked in at `lastSeen` counts as alive.
 *
 * While the own watch hears nothing, time stands still: who was alive stays alive and who was dead stays dead. After a gap, who had
 * checked in around its start has 60 s to check in again.
 */
export function isFresh(lastSeen: number, { at, gap }: FreshnessView): boolean {
  if (at - lastSeen < FRESH_SECONDS) return true;
  if (gap === undefined || at - gap.listedAt >= FRESH_SECONDS) return false;
  return gap.gapStart - lastSeen < FRESH_SECONDS;
}

/** Whether a last-seen lies so far in the future that a clock must be wrong. */
export function isClockAhead(lastSeen: number, now: number): boolean {
  return lastSeen - now >= FRESH_SECONDS;
}
