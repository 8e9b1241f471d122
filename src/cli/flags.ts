/**
 * Flags as a table: one entry says name, form, default and meaning, and reading, checking and help all come from it.
 *
 * The syntax is pflag's, because Kilo's manifests are written in it: `--name value`, `--name=value`, a switch is `--name` or
 * `--name=false`, a list takes commas or repetition. Beyond pflag, where the last of several wins: any other flag stands once, because of
 * two values one would be ignored.
 */
import { parseArgs } from "node:util";
import { UnknownFlagError, UsageError } from "./errors.ts";
import { didYouMean } from "./nearest.ts";

/** One flag that holds a `T`. */
export interface Flag<T> {
  /** Without the leading dashes. */
  readonly name: string;
  /** One letter, given with one dash. @default none */
  readonly short?: string | undefined;
  /** What the value is, in help, e.g. `CIDR`. Undefined: a switch. */
  readonly value?: string | undefined;
  readonly help: string;
  /** The default as help shows it; undefined: none is shown. */
  readonly shown?: string | undefined;
  readonly initial: T;
  /** Whether it may be given more than once. @default false */
  readonly repeats?: boolean | undefined;
  /**
   * The value after one more occurrence.
   * @param sofar what earlier occurrences gave; undefined on the first
   * @throws UsageError "cannot use --name: reason (value)"
   */
  read(text: string, sofar: T | undefined): T;
}

/** Flags by the name under which code gets their values. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<Table extends FlagTable> = {
  readonly [Key in keyof Table]: Table[Key] extends Flag<infer T> ? T : never;
};

export interface ParsedFlags<Table extends FlagTable> {
  readonly values: FlagValues<Table>;
  /** Names of the flags that were given. */
  readonly given: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** Reads arguments by a table. @throws UsageError for a flag that is malformed, repeated or without value; UnknownFlagError */
export function parseFlags<Table extends FlagTable>(
  table: Table,
  args: readonly string[],
): ParsedFlags<Table> {
  const flags = Object.values(table);
  const read = new Map<string, unknown>();
  const positionals: string[] = [];
  for (const token of tokens(flags, args)) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const flag = flags.find(({ name }) => name === token.name);
    if (flag === undefined || !isWhole(flag, token.rawName)) throw unknownFlag(token.rawName, flags);
    if (read.has(flag.name) && flag.repeats !== true) {
      throw new UsageError(`cannot use --${flag.name}: it is given more than once`);
    }
    read.set(flag.name, flag.read(textOf(flag, token.rawName, token.value), read.get(flag.name)));
  }
  const values = Object.entries(table).map(([key, flag]) => [
    key,
    read.has(flag.name) ? read.get(flag.name) : flag.initial,
  ]);
  return { values: Object.fromEntries(values), given: new Set(read.keys()), positionals };
}

function tokens(flags: readonly Flag<unknown>[], args: readonly string[]) {
  const options = flags.map(({ name, short, value }) => {
    const type: "string" | "boolean" = value === undefined ? "boolean" : "string";
    return [name, short === undefined ? { type } : { type, short }];
  });
  return parseArgs({
    args: [...args],
    options: Object.fromEntries(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

/** A long flag needs two dashes, a short one is a single letter. */
function isWhole(flag: Flag<unknown>, rawName: string): boolean {
  return rawName === `--${flag.name}` || rawName === `-${flag.short}`;
}

/** `-o=json` is `-ojson` to `parseArgs`, but to pflag the equals sign belongs to neither. */
function textOf(flag: Flag<unknown>, rawName: string, value: string | undefined): string {
  if (value !== undefined) return rawName.startsWith("--") ? value : value.replace(/^=/, "");
  if (flag.value === undefined) return "true";
  throw new UsageError(`cannot use --${flag.name}: it needs a value (${flag.value})`);
}

function unknownFlag(rawName: string, flags: readonly Flag<unknown>[]): UnknownFlagError {
  const names = flags.map(({ name }) => name);
  const hint = didYouMean(rawName.replace(/^-+/, ""), names, "--");
  return new UnknownFlagError(rawName, `cannot use ${rawName}: there is no such flag${hint}`);
}
