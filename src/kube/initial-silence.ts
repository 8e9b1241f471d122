/** A WatchList that stands still: the server does not know it, and the initial list would never end. */
import type { Clock } from "./clock.ts";

/** Longest silence inside an initial list before ordinary pages are tried; a slow line sends something within it. */
const INITIAL_SILENCE_MS = 30_000;

/** The server does not do WatchList, by whatever sign. */
export class NoWatchList extends Error {}

/**
 * A signal that fires with NoWatchList when nothing was heard for too long. It looks at `heardAt` (Unix milliseconds), so that thousands of
 * events need not move a timer each.
 */
export function watchSilence(
  clock: Clock,
  heardAt: () => number | undefined,
): { signal: AbortSignal; cancel: () => void } {
  const abort = new AbortController();
  const begunAt = clock.now();
  let cancel = () => {};
  const look = (milliseconds: number) => {
    cancel = clock.after(milliseconds, () => {
      const silentFor = clock.now() - Math.max(begunAt, heardAt() ?? 0);
      if (silentFor >= INITIAL_SILENCE_MS) abort.abort(new NoWatchList("the list does not end"));
      else look(INITIAL_SILENCE_MS - silentFor);
    });
  };
  look(INITIAL_SILENCE_MS);
  return { signal: abort.signal, cancel: () => cancel() };
}
