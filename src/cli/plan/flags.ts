/** The flags of `kg plan`: its own, and kg's that decide what is planned. */
import { UsageError } from "../errors.ts";
import { choiceFlag, optionalFlag, repeatedFlag } from "../flag-kinds.ts";
import { type FlagValues, parseFlags } from "../flags.ts";
import { TOPOLOGY_FLAGS } from "../topology-flags.ts";

export const PLAN_FLAGS = {
  files: repeatedFlag({
    name: "filename",
    short: "f",
    value: "FILE",
    help: "Node and Peer objects as YAML or JSON, - for standard input; may be repeated",
  }),
  hostname: optionalFlag({
    name: "hostname",
    value: "NAME",
    help: "the host to plan: the name of its Node object",
  }),
  peer: optionalFlag({
    name: "peer",
    value: "NAME",
    help: "plan what this external Peer needs, instead of a host",
  }),
  against: optionalFlag({
    name: "against",
    value: "FILE",
    help: "print what would change on the host if it now had the plan of these objects, and what would be wrong",
  }),
  output: choiceFlag({
    name: "output",
    short: "o",
    words: ["text", "json", "conf"],
    initial: "text",
    help: "form of the output; conf: with --peer, a file for wg-quick and nothing else",
  }),
  now: optionalFlag({
    name: "now",
    value: "TIME",
    help: "time of the plan, Unix seconds or RFC 3339 (default the newest last-seen in the input, which also holds for the objects of --against)",
  }),
  resolve: repeatedFlag({
    name: "resolve",
    value: "NAME=IP",
    help: "stands for DNS; may be repeated, several for one name are its addresses",
  }),
  ...TOPOLOGY_FLAGS,
} as const;

export type PlanFlags = FlagValues<typeof PLAN_FLAGS>;

/** Reads the arguments of `kg plan`. @throws UsageError also when they do not go together */
export function readPlanFlags(args: readonly string[]): PlanFlags {
  const { values, positionals } = parseFlags(PLAN_FLAGS, args);
  const { files, hostname, peer, against, output } = values;
  if (positionals.length > 0) throw refusal(`it takes flags only, files stand behind -f (${positionals[0]})`);
  if (files.length === 0) throw refusal("give the objects: -f FILE, or -f - for standard input");
  if (hostname === undefined && peer === undefined) throw refusal("give --hostname NAME or --peer NAME");
  if (hostname !== undefined && peer !== undefined) throw refusal("give --hostname or --peer, not both");
  if (peer !== undefined && against !== undefined) throw refusal("--against goes with --hostname only");
  if (peer === undefined && output === "conf") throw refusal("-o conf goes with --peer only");
  const standardInputs = [...files, against].filter((file) => file === "-");
  if (standardInputs.length > 1) throw refusal("standard input can be read only once");
  return values;
}

function refusal(reason: string): UsageError {
  return new UsageError(`cannot plan: ${reason}`);
}
