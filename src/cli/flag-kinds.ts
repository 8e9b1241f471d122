/** The kinds of flags: each makes a table entry that reads one form of value. */
import { type Prefix, parsePrefix } from "../ip/index.ts";
import { parseDuration } from "./duration.ts";
import { UsageError } from "./errors.ts";
import type { Flag } from "./flags.ts";

interface Described {
  readonly name: string;
  readonly short?: string;
  readonly help: string;
}

/** A switch. Values as Go's `strconv.ParseBool` takes them. */
export function switchFlag(of: Described & { initial: boolean }): Flag<boolean> {
  return { ...of, shown: String(of.initial), read: (text) => readSwitch(of.name, text) };
}

/** Any text. */
export function textFlag(of: Described & { value: string; initial: string }): Flag<string> {
  return { ...of, shown: of.initial === "" ? undefined : of.initial, read: (text) => text };
}

/** A text without which nothing is done; undefined unless given. */
export function optionalFlag(of: Described & { value: string }): Flag<string | undefined> {
  return { ...of, initial: undefined, read: (text) => nonEmpty(of.name, text) };
}

/** One of a few words. */
export function choiceFlag<Word extends string>(
  of: Described & { words: readonly Word[]; initial: Word },
): Flag<Word> {
  return {
    ...of,
    value: of.words.filter((word) => word !== "").join("|"),
    shown: of.initial || undefined,
    read,
  };

  function read(text: string): Word {
    const word = of.words.find((known) => known === text);
    if (word !== undefined) return word;
    const known = of.words.filter((one) => one !== "").join(", ");
    throw new UsageError(`cannot use --${of.name}: it is one of ${known} (${text})`);
  }
}

/** A whole number between two bounds, decimal. */
export function numberFlag(
  of: Described & { value: string; initial: number; least: number; most: number },
): Flag<number> {
  return { ...of, shown: String(of.initial), read: (text) => readNumber(of.name, text, of.least, of.most) };
}

/** A prefix; host bits are cleared, as Go's `net.ParseCIDR` does. */
export function prefixFlag(of: Described & { initial: Prefix }): Flag<Prefix> {
  return { ...of, value: "CIDR", shown: of.initial.text, read: (text) => readPrefix(of.name, text) };
}

/** Prefixes, by commas, repetition or both. */
export function prefixesFlag(of: Described): Flag<readonly Prefix[]> {
  return { ...of, value: "CIDR,...", initial: [], repeats: true, read };

  function read(text: string, sofar: readonly Prefix[] | undefined): readonly Prefix[] {
    return [...(sofar ?? []), ...text.split(",").map((one) => readPrefix(of.name, one.trim()))];
  }
}

/** Texts, by repetition only. */
export function repeatedFlag(of: Described & { value: string }): Flag<readonly string[]> {
  return {
    ...of,
    initial: [],
    repeats: true,
    read: (text, sofar) => [...(sofar ?? []), nonEmpty(of.name, text)],
  };
}

/** A duration in milliseconds that is more than none: zero or less would be a loop without pause (report K-21). */
export function periodFlag(of: Described & { initial: string }): Flag<number> {
  return { ...of, value: "DURATION", shown: of.initial, initial: readPeriod(of.name, of.initial), read };

  function read(text: string): number {
    return readPeriod(of.name, text);
  }
}

/** A whole number between two bounds, or undefined for the word `auto`, which is the default. */
export function autoNumberFlag(
  of: Described & { value: string; least: number; most: number },
): Flag<number | undefined> {
  return { ...of, shown: "auto", initial: undefined, read };

  function read(text: string): number | undefined {
    return text === "auto" ? undefined : readNumber(of.name, text, of.least, of.most);
  }
}

function readSwitch(name: string, text: string): boolean {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(text)) return false;
  throw new UsageError(`cannot use --${name}: it is true or false (${text})`);
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`cannot use --${name}: it is a whole number from ${least} to ${most} (${text})`);
}

function readPrefix(name: string, text: string): Prefix {
  const prefix = parsePrefix(text);
  if (prefix !== undefined) return prefix;
  throw new UsageError(`cannot use --${name}: not a prefix like 10.0.0.0/16 (${text})`);
}

function readPeriod(name: string, text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) {
    throw new UsageError(`cannot use --${name}: not a duration like 30s or 1m30s (${text})`);
  }
  if (milliseconds > 0) return milliseconds;
  throw new UsageError(`cannot use --${name}: it must be more than zero (${text})`);
}

function nonEmpty(name: string, text: string): string {
  if (text !== "") return text;
  throw new UsageError(`cannot use --${name}: it needs a value`);
}
