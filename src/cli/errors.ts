/** What goes wrong at the command line. The message is for a person and says what to do; no stack is shown. */

/**
 * Exit codes of the programs. 1: it could not be done. 2: it was asked for in a way that cannot be understood. 3: what was asked about
 * takes no part, and everything there is to say was said (as `systemctl status` answers 3 for a service that does not run).
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, noPart: 3 } as const;

export abstract class CliError extends Error {
  /** Stable, for tests and scripts. */
  abstract readonly code: string;
  abstract readonly exitCode: number;
}

/** An argument that is unknown, malformed, missing, or not served. Exit code 2. */
export class UsageError extends CliError {
  override readonly name: string = "UsageError";
  readonly code = "usage";
  readonly exitCode = EXIT.usage;
}

/** A flag that the verb does not have; another verb may. */
export class UnknownFlagError extends UsageError {
  override readonly name = "UnknownFlagError";
  /** As it was typed, dashes included. */
  readonly flag: string;

  constructor(flag: string, message: string) {
    super(message);
    this.flag = flag;
  }
}

/** A file, document or object that cannot be used. Exit code 1. */
export class InputError extends CliError {
  override readonly name = "InputError";
  readonly code = "input";
  readonly exitCode = EXIT.failed;
}
