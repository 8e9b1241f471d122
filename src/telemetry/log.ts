/** The log: one JSON object a line. */

import { writeToStdout } from "./line-writer.ts";
import { logValue } from "./log-value.ts";

/** `--log-level`, Kilo's words (kilo.md §1.1): everything from this level on; `all` is `debug`, `none` is silence. */
export const LOG_LEVELS = ["all", "debug", "info", "warn", "error", "none"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line says besides its message. Any value may stand here; `undefined` is left out. Secrets and raw bytes are never shown. */
export type LogContext = Readonly<Record<string, unknown>>;

/**
 * Writes lines. Messages are constant texts, so that lines of one kind can be found; what varies goes into the context.
 * No method ever throws, whatever the context holds and whatever happens to the output.
 */
export interface Logger {
  debug(message: string, context?: LogContext): void;
  info(message: string, context?: LogContext): void;
  warn(message: string, context?: LogContext): void;
  error(message: string, context?: LogContext): void;
  /** The same log under another `component`. */
  component(name: string): Logger;
  /** Whether lines of this level are written; for context that costs something to make. */
  writes(level: Severity): boolean;
}

export type Severity = "debug" | "info" | "warn" | "error";

export interface LoggerOptions {
  /** @default "info" */
  readonly level?: LogLevel | undefined;
  /** The part of the program that speaks. @default "kg" */
  readonly component?: string | undefined;
  /** Takes a whole line with its line break. @default to standard output, at once */
  readonly write?: ((line: string) => void) | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * Makes a logger. A line has `ts` (UTC, RFC 3339, milliseconds), `level`, `component`, `msg`, then the context in its own order; a
 * context field with one of these four names gets a `_` behind it.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  return new JsonLogger({
    threshold: THRESHOLD[options.level ?? "info"],
    component: options.component ?? "kg",
    write: options.write ?? writeToStdout,
    now: options.now ?? Date.now,
  });
}

/** The level with this name; undefined when there is none. */
export function parseLogLevel(text: string): LogLevel | undefined {
  return LOG_LEVELS.find((level) => level === text);
}

const RANK: Readonly<Record<Severity, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const THRESHOLD: Readonly<Record<LogLevel, number>> = { all: 0, ...RANK, none: 4 };
const OWN_FIELDS: ReadonlySet<string> = new Set(["ts", "level", "component", "msg"]);

interface Settings {
  readonly threshold: number;
  readonly component: string;
  readonly write: (line: string) => void;
  readonly now: () => number;
}

class JsonLogger implements Logger {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  debug(message: string, context?: LogContext): void {
    this.#log("debug", message, context);
  }

  info(message: string, context?: LogContext): void {
    this.#log("info", message, context);
  }

  warn(message: string, context?: LogContext): void {
    this.#log("warn", message, context);
  }

  error(message: string, context?: LogContext): void {
    this.#log("error", message, context);
  }

  component(name: string): Logger {
    return new JsonLogger({ ...this.#settings, component: name });
  }

  writes(level: Severity): boolean {
    return RANK[level] >= this.#settings.threshold;
  }

  #log(level: Severity, message: string, context: LogContext = {}): void {
    if (!this.writes(level)) return;
    const { component, write, now } = this.#settings;
    try {
      const own = { ts: new Date(now()).toISOString(), level, component, msg: logValue(message) };
      write(`${JSON.stringify({ ...own, ...contextFields(context) })}\n`);
    } catch {
      // A line that cannot be written is lost: there is nowhere left to say so, and the work goes on.
    }
  }
}

function contextFields(context: LogContext): Record<string, unknown> {
  const rendered = logValue(context);
  if (typeof rendered !== "object" || rendered === null) return {};
  const fields = Object.entries(rendered).map(([name, value]) => [
    OWN_FIELDS.has(name) ? `${name}_` : name,
    value,
  ]);
  return Object.fromEntries(fields);
}
