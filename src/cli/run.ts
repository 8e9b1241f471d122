/** `kg` without a verb: the agent. */
import { runAgent } from "../agent/index.ts";
import { UsageError } from "./errors.ts";
import { parseFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { agentOptions, KG_FLAGS } from "./kg-flags.ts";
import { sayPlainly } from "./start-errors.ts";
import type { Verb } from "./verb.ts";
import { VERSION } from "./version.ts";

export const run: Verb = {
  name: "",
  summary:
    "Without a verb kg runs the agent of this host: it keeps its part of the mesh as it shall be, until it is stopped.",
  usage: "[FLAGS]",
  flags: KG_FLAGS,
  run: runVerb,
};

async function runVerb(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseFlags(KG_FLAGS, args);
  if (positionals.length > 0) {
    throw new UsageError(
      `cannot run the agent: it takes flags only, a verb stands first (${positionals[0]})`,
    );
  }
  const options = agentOptions(values, io.hostname());
  return sayPlainly(() => runAgent(options, VERSION));
}
