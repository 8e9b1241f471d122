/** `kg version`. */
import { EXIT } from "./errors.ts";
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
    parseFlags({}, args);
    io.stdout(`${VERSION}\n`);
    return EXIT.ok;
  },
};
