/** `kg version`. */
import { EXIT, UsageError } from "./errors.ts";
import { parseFlags } from "./flags.ts";
import type { Verb } from "./verb.ts";

/** Set by the bundler. */
declare const KILOMESH_VERSION: string;

/** The version of this build, as package.json has it. */
export const VERSION = KILOMESH_VERSION;

export const version: Verb = {
  name: "version",
  summary: "prints the version",
  usage: "version",
  flags: {},
  run: async (args, io) => {
    const { positionals } = parseFlags({}, args);
    if (positionals.length > 0) {
      throw new UsageError(`cannot tell the version: it takes no argument (${positionals[0]})`);
    }
    io.stdout(`${VERSION}\n`);
    return EXIT.ok;
  },
};
