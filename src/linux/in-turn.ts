/** Operations one after the other: what one has read must not change under it. */

/** A queue of its own for each thing that must not be read and written at the same time. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the operation when all earlier ones have ended, however they ended. Throws the signal's reason when it is aborted by then. */
  run<T>(operation: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const result = this.#last.then(() => {
      signal?.throwIfAborted();
      return operation();
    });
    this.#last = result.catch(() => undefined);
    return result;
  }
}
