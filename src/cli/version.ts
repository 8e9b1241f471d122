/** `kg version`. */
import { EXIT } from "./errors.ts";
import { parseFlags } from "./flags.ts";
import type { Verb } from "./verb.ts";

/** Set by the bundler. */
declare const KILOMESH_VERSION: string;

export const version: Verb = {
  name: "version",
  summary: "prints the version",
  usage: "version",
  flags: {},
  run: async (args, io) => {
    parseFlags({}, args);
    io.stdout(versionText());
    return EXIT.ok;
  },
};

/** The version and a line break. */
export function versionText(): string {
  return `${KILOMESH_VERSION}\n`;
}
