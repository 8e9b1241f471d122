/** For tests: a clock that stands still until it is moved. */
import type { Clock } from "./clock.ts";

export interface FakeClock extends Clock {
  /** Milliseconds from now to each waiting callback, in order. */
  readonly waiting: readonly number[];
  /** Moves time on; callbacks run in order, and promises settle after each. */
  advance(milliseconds: number): Promise<void>;
  /** Lets promises settle without moving time. */
  settle(): Promise<void>;
}

/** @param start Unix milliseconds. */
export function createFakeClock(start = 1_700_000_000_000): FakeClock {
  let now = start;
  let timers: { at: number; callback: () => void }[] = [];

  const next = (until: number) => timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];

  return {
    now: () => now,
    after(milliseconds, callback) {
      const timer = { at: now + milliseconds, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    get waiting() {
      return timers.map((timer) => timer.at - now).sort((a, b) => a - b);
    },
    async advance(milliseconds) {
      await this.settle();
      const end = now + milliseconds;
      for (let timer = next(end); timer !== undefined; timer = next(end)) {
        const due = timer;
        timers = timers.filter((other) => other !== due);
        now = due.at;
        due.callback();
        await this.settle();
      }
      now = end;
      await this.settle();
    },
    async settle() {
      for (let round = 0; round < 3; round++) await new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
}
