/**
 * The serial loop: level-triggered, debounced. However many triggers come, one pass runs at a time, each pass sees everything that
 * was triggered before it began, and a pass that failed runs again by itself.
 */

/** Quiet time after a trigger before a pass starts: events of one cause (a node joins: four of them) come within it. */
const QUIET_MS = 100;

/** A pass starts at the latest this long after the first trigger, however many follow: report S-11 with 100 nodes joining. */
const LONGEST_WAIT_MS = 500;

/** First and longest pause before a failed pass is tried again; full jitter below it, so that agents do not march in step. */
const RETRY_FIRST_MS = 1_000;
const RETRY_LONGEST_MS = 30_000;

export interface LoopOptions {
  /** One pass. It may throw: it is then tried again. */
  readonly pass: (reasons: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Told of every failed pass, with the pause before the next try in milliseconds. */
  readonly onFailure: (error: unknown, retryInMs: number) => void;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
}

export interface Loop {
  /** Asks for a pass. Cheap, never throws, also before `start`. */
  trigger(reason: string): void;
  start(): void;
  /** Resolves when the pass that runs now has ended. Idempotent. */
  stop(): Promise<void>;
}

/** Makes a loop; nothing runs before `start`. */
export function createLoop(options: LoopOptions): Loop {
  return new SerialLoop(options);
}

class SerialLoop implements Loop {
  readonly #options: LoopOptions;
  readonly #abort = new AbortController();
  readonly #reasons = new Set<string>();
  #firstTrigger: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The one retry that is due; whatever pass begins before it takes its reasons over. */
  #again: NodeJS.Timeout | undefined;
  #unfinished: readonly string[] = [];
  #running: Promise<void> | undefined;
  #failures = 0;
  #started = false;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  trigger(reason: string): void {
    this.#reasons.add(reason);
    this.#firstTrigger ??= Date.now();
    this.#schedule();
  }

  start(): void {
    this.#started = true;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#again);
    await this.#running;
  }

  #schedule(): void {
    if (
      !this.#started ||
      this.#abort.signal.aborted ||
      this.#running !== undefined ||
      this.#reasons.size === 0
    )
      return;
    const waited = Date.now() - (this.#firstTrigger ?? Date.now());
    const pause = Math.max(0, Math.min(QUIET_MS, LONGEST_WAIT_MS - waited));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(), pause);
  }

  #begin(): void {
    clearTimeout(this.#again);
    const reasons = [...new Set([...this.#unfinished, ...this.#reasons])];
    this.#unfinished = [];
    this.#reasons.clear();
    this.#firstTrigger = undefined;
    this.#running = this.#run(reasons).finally(() => {
      this.#running = undefined;
      this.#schedule();
    });
  }

  async #run(reasons: readonly string[]): Promise<void> {
    try {
      await this.#options.pass(reasons, this.#abort.signal);
      this.#failures = 0;
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#retry(error, reasons);
    }
  }

  #retry(error: unknown, reasons: readonly string[]): void {
    const ceiling = Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** this.#failures);
    const pause = Math.round((this.#options.random ?? Math.random)() * ceiling);
    this.#failures += 1;
    this.#options.onFailure(error, pause);
    this.#unfinished = reasons;
    this.#again = setTimeout(() => {
      for (const reason of reasons) this.trigger(reason);
    }, pause);
  }
}
