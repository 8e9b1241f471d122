/**
 * cli: the command line of `kg`. One file a verb; flags, checks and help come from one table; rendering stands apart from logic.
 *
 * Promises: what is not understood or not served is refused with one line that says what and what to do, exit code 2; what fails
 * for other reasons ends with exit code 1; a plan for a host or Peer that takes no part ends with 3. Nothing is ignored. No secret is
 * printed.
 */
import { cleanUp } from "./clean-up.ts";
import { CliError, EXIT, UnknownFlagError, UsageError } from "./errors.ts";
import { programHelp, verbHelp } from "./help.ts";
import type { Io } from "./io.ts";
import { didYouMean } from "./nearest.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import type { Verb } from "./verb.ts";
import { version } from "./version.ts";

export { faultText } from "./fault.ts";
export { type Io, processIo } from "./io.ts";

const PROGRAM = "kg";

/** What `kg` can do. The one with the empty name is what it does without a verb. */
const VERBS: readonly Verb[] = [run, plan, cleanUp, version];

/** By this name `kg help` explains what `kg` does without a verb. */
const AGENT = "agent";

/** Runs `kg` with these arguments (without the program's own name). Resolves to the exit code; never rejects for what `CliError` covers. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(args, io);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    io.stderr(`${PROGRAM}: ${error.message}\n`);
    return error.exitCode;
  }
}

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  const [first = ""] = args;
  if (first === "help") return help(args.slice(1), io);
  const verb = first.startsWith("-") ? verbNamed("") : verbNamed(first);
  const rest = verb.name === "" ? args : args.slice(1);
  if (asksForHelp(rest)) return help(verb.name === "" ? [] : [verb.name], io);
  if (rest[0] === "--version") return version.run(rest.slice(1), io);
  try {
    return await verb.run(rest, io);
  } catch (error) {
    throw error instanceof UnknownFlagError ? (flagOfAnother(error, verb) ?? error) : error;
  }
}

/** What to say of a flag that only other verbs have; undefined when none has it. */
function flagOfAnother(error: UnknownFlagError, verb: Verb): UsageError | undefined {
  const owners = VERBS.filter(({ flags }) =>
    Object.values(flags).some(({ name, short }) => [`--${name}`, `-${short}`].includes(error.flag)),
  );
  if (owners.length === 0) return undefined;
  const names = owners.map(commandOf).join(" and ");
  const reason = `it is a flag of ${names}, not of ${commandOf(verb)}`;
  return new UsageError(`cannot use ${error.flag}: ${reason}`, { cause: error });
}

function commandOf({ name }: Verb): string {
  return name === "" ? PROGRAM : `${PROGRAM} ${name}`;
}

function help([name, ...more]: readonly string[], io: Io): number {
  if (more.length > 0) throw new UsageError(`cannot help: it takes one verb (${more[0]})`);
  if (name === undefined || name === "help") io.stdout(programHelp(PROGRAM, VERBS));
  else io.stdout(verbHelp(PROGRAM, name === AGENT ? run : verbNamed(name)));
  return EXIT.ok;
}

function verbNamed(name: string): Verb {
  const verb = VERBS.find((known) => known.name === name);
  if (verb !== undefined) return verb;
  if (name === AGENT) {
    const usage = `${PROGRAM} ${run.usage}`;
    throw new UsageError(
      `cannot ${name}: the agent is \`${usage}\`, without a verb; \`kg help agent\` explains it`,
    );
  }
  const names = [...VERBS.map((known) => known.name).filter((known) => known !== ""), "help"];
  throw new UsageError(
    `cannot ${name}: there is no such verb${didYouMean(name, names)}; \`${PROGRAM} help\` lists them`,
  );
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  return own.includes("--help") || own.includes("-h");
}
