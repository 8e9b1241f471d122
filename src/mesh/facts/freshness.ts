/** Which nodes count as alive (kilo.md §2.4; design, "Freshness"). */
import type { WatchGap } from "../options.ts";

/** Kilo's constant: a node that has not checked in for this many seconds is left out. Contract. */
export const FRESH_SECONDS = 60;

export interface FreshnessView {
  /** Unix seconds. */
  readonly now: number;
  /** `last-seen` of the own node; 0 when it has none. */
  readonly ownLastSeen: number;
  /** @default true */
  readonly watchLive?: boolean | undefined;
  readonly gap?: WatchGap | undefined;
}

/**
 * Whether a node that checked in at `lastSeen` counts as alive.
 *
 * While the own watch is down, nothing newer can be seen: a node is judged by the own last check-in instead of the clock, so that who was
 * alive stays alive and who was dead stays dead. After a gap, who had checked in around its start has 60 s to check in again.
 */
export function isFresh(lastSeen: number, view: FreshnessView): boolean {
  if (view.watchLive === false) return view.ownLastSeen - lastSeen < FRESH_SECONDS;
  if (view.now - lastSeen < FRESH_SECONDS) return true;
  const { gap } = view;
  if (gap === undefined || view.now - gap.listedAt >= FRESH_SECONDS) return false;
  return gap.gapStart - lastSeen < FRESH_SECONDS;
}

/** Whether a last-seen lies so far in the future that a clock must be wrong. */
export function isClockAhead(lastSeen: number, now: number): boolean {
  return lastSeen - now >= FRESH_SECONDS;
}
