/** A verb of a program: what `kg VERB` does. One file each; the table of them is in `index.ts`. */
import type { FlagTable } from "./flags.ts";
import type { Io } from "./io.ts";

export interface Verb {
  /** How it is called; empty for what the program does without a verb. */
  readonly name: string;
  /** One line for the list of verbs. */
  readonly summary: string;
  /** What stands behind the program's name in the usage line. */
  readonly usage: string;
  /** Longer words for `kg help VERB`. @default none */
  readonly notes?: string | undefined;
  readonly flags: FlagTable;
  /**
   * Does it. Resolves to the exit code.
   * @throws CliError what `main` prints as one line
   */
  readonly run: (args: readonly string[], io: Io) => Promise<number>;
}
