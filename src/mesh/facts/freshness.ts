/** Which nodes count as alive (kilo.md §2.4; design, "Freshness"; report S-13). */
import type { CheckIns, WatchGap } from "../options.ts";

/** Kilo's constant: a node that has not checked in for this many seconds is left out. Contract. */
export const FRESH_SECONDS = 60;

export interface FreshnessView {
  /** Unix seconds at which the own watch last heard the API server; the present while it lives. */
  readonly at: number;
  readonly gap?: WatchGap | undefined;
  /** When all agents are ours: what was heard of check-ins, which counts more than what the nodes' own clocks say. */
  readonly checkIns?: CheckIns | undefined;
}

/**
 * When a node checked in, by this host's clock: when it was heard to, else by what it says itself. A time that lies ahead was heard before
 * this host's clock was set back, and means nothing.
 */
export function checkedInAt(
  { name, lastSeen }: { readonly name: string; readonly lastSeen: number },
  { at, checkIns }: FreshnessView,
): number {
  const heard = checkIns?.get(name);
  return heard === undefined || heard - at >= FRESH_SECONDS ? lastSeen : heard;
}

/**
 * Whether a node that checked in at `lastSeen` (see `checkedInAt`) counts as alive.
 *
 * While the own watch hears nothing, time stands still: who was alive stays alive and who was dead stays dead. After a gap, who had
 * checked in around its start has 60 s to check in again. A clock that was set back since makes that no longer: it ends the gap.
 */
export function isFresh(lastSeen: number, { at, gap }: FreshnessView): boolean {
  if (at - lastSeen < FRESH_SECONDS) return true;
  if (gap === undefined || Math.abs(at - gap.listedAt) >= FRESH_SECONDS) return false;
  return gap.gapStart - lastSeen < FRESH_SECONDS;
}
