/** Problems that last: told when they appear and when they are gone, not at every look in between. */
import type { LogContext, Logger } from "./log.ts";

/** A problem as it is now. The key says which problem it is; when only message or context change, it is the same one. */
export interface Problem {
  readonly key: string;
  /** A constant text. */
  readonly message: string;
  readonly context?: LogContext | undefined;
}

export interface WarnOnce {
  /** There is this problem: a warning when it was not there before. */
  raise(problem: Problem): void;
  /** This problem is gone: an info line `no longer: …` when it was there. */
  clear(key: string): void;
  /** Exactly these problems are there: raises and clears what differs from before. */
  replace(problems: Iterable<Problem>): void;
  /** Problems that are there now, by the order of their appearance. */
  current(): readonly Problem[];
}

/** Most problems remembered at a time: every node of a large mesh may have one. A megabyte at the most. */
const MOST_PROBLEMS = 1000;

/**
 * Makes one memory of problems; each source of problems has its own, so that `replace` clears only what is its own.
 * @param limit most problems remembered; further ones are not told, but that there are some is. @default 1000
 */
export function createWarnOnce(log: Logger, limit = MOST_PROBLEMS): WarnOnce {
  return new ProblemMemory(log, limit);
}

class ProblemMemory implements WarnOnce {
  readonly #log: Logger;
  readonly #limit: number;
  readonly #known = new Map<string, Problem>();
  #overflowTold = false;

  constructor(log: Logger, limit: number) {
    this.#log = log;
    this.#limit = limit;
  }

  raise(problem: Problem): void {
    const isNew = !this.#known.has(problem.key);
    if (isNew && this.#known.size >= this.#limit) {
      this.#tellOverflow();
      return;
    }
    this.#known.set(problem.key, problem);
    if (isNew) this.#log.warn(problem.message, problem.context);
  }

  clear(key: string): void {
    const problem = this.#known.get(key);
    if (problem === undefined) return;
    this.#known.delete(key);
    this.#overflowTold = false;
    this.#log.info(`no longer: ${problem.message}`, problem.context);
  }

  replace(problems: Iterable<Problem>): void {
    const present = new Map<string, Problem>();
    for (const problem of problems) present.set(problem.key, problem);
    for (const key of [...this.#known.keys()]) if (!present.has(key)) this.clear(key);
    for (const problem of present.values()) this.raise(problem);
  }

  current(): readonly Problem[] {
    return [...this.#known.values()];
  }

  #tellOverflow(): void {
    if (this.#overflowTold) return;
    this.#overflowTold = true;
    this.#log.warn("there are more problems than are told", { limit: this.#limit });
  }
}
