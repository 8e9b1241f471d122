/** Steps of something that takes seconds, shown as they happen: what, how far, how long. */

export interface Steps {
  /** Ends the step before and begins one. */
  begin(title: string): void;
  /** Tells how far the present step is. */
  note(progress: string): void;
  /** Ends the present step. */
  end(): void;
}

/**
 * Steps on a terminal: one line each, rewritten while it goes on. Elsewhere (a file, a CI log) a line is printed when its step has ended.
 * @param now milliseconds of any clock that only goes forward
 */
export function terminalSteps(write: (text: string) => void, isTerminal: boolean, now: () => number): Steps {
  let title: string | undefined;
  let progress = "";
  let started = 0;

  const show = (ending: string): void => {
    const line = `  ${title}${progress === "" ? "" : ` ${progress}`}`;
    write(isTerminal ? `\r\x1b[K${line}${ending}` : `${line}${ending}`);
  };
  const end = (): void => {
    if (title === undefined) return;
    show(`  ${((now() - started) / 1000).toFixed(1)} s\n`);
    title = undefined;
    progress = "";
  };

  return {
    begin: (next) => {
      end();
      title = next;
      started = now();
      if (isTerminal) show(" …");
    },
    note: (text) => {
      progress = text;
      if (isTerminal) show(" …");
    },
    end,
  };
}

/** The same steps until a signal; what begins after it is not shown. */
export function stepsUntil(signal: AbortSignal, steps: Steps): Steps {
  const unless = (show: () => void): void => {
    if (!signal.aborted) show();
  };
  return {
    begin: (title) => unless(() => steps.begin(title)),
    note: (progress) => unless(() => steps.note(progress)),
    end: () => unless(() => steps.end()),
  };
}
