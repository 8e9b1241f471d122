/** How any value stands in a log line: as JSON that is safe, bounded and readable. */

/** Most characters of all texts of one value: container runtimes cut a line at 16 KiB, and what is cut is no JSON any more. */
const MOST_CHARACTERS = 12_000;
/** Longest single text in characters, so that one of them does not hide the others. */
const LONGEST_TEXT = 4096;
/** Most elements of a list, or fields of an object: enough for the peers of a large location, not for a whole mesh. */
const MOST_ELEMENTS = 100;
/** Deepest nesting: a plan's deepest object has five levels. */
const DEEPEST = 6;
/** Longest chain of causes: ours have up to four. */
const MOST_CAUSES = 8;

/** What JSON can hold. */
export type LogValue = string | number | boolean | null | LogValue[] | { [name: string]: LogValue };

/**
 * Renders a value. Objects with a `toJSON` speak for themselves (so a secret key stays hidden), bytes show only their number, an
 * error shows message, code and causes and, when it has no code and so was not foreseen, its stack. `undefined` fields are left out.
 * What is too long or too deep says so. Never throws.
 */
export function logValue(value: unknown): LogValue {
  return new Rendering().render(value) ?? null;
}

class Rendering {
  #charactersLeft = MOST_CHARACTERS;
  /** The objects that the present value lies in, outermost first. */
  readonly #path: object[] = [];

  /** Undefined: leave it out. */
  render(value: unknown): LogValue | undefined {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "bigint":
        return this.#text(String(value));
      case "undefined":
        return undefined;
      case "object":
        return value === null ? null : this.#object(value);
      default:
        return `(${typeof value})`;
    }
  }

  #object(value: object): LogValue | undefined {
    if (this.#path.includes(value)) return "(circular)";
    if (this.#path.length >= DEEPEST) return "(deep)";
    this.#path.push(value);
    try {
      return this.#content(value);
    } catch {
      return "(unprintable)";
    } finally {
      this.#path.pop();
    }
  }

  #content(value: object): LogValue | undefined {
    if (value instanceof Error) return this.#error(value);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `(${value.byteLength} bytes)`;
    if (hasToJson(value)) return this.render(value.toJSON());
    if (value instanceof Map) return this.#fields([...value].map(([key, of]) => [String(key), of]));
    if (Array.isArray(value) || value instanceof Set) return this.#list([...value]);
    return this.#fields(Object.entries(value));
  }

  #error(error: Error): LogValue {
    const fields: { [name: string]: LogValue } = { message: this.#text(error.message) };
    const code = "code" in error ? error.code : undefined;
    if (typeof code === "string" || typeof code === "number") fields.code = code;
    else fields.stack = this.#text(error.stack ?? error.name);
    if (error instanceof AggregateError) fields.errors = this.#list(error.errors);
    const causes = this.#causes(error);
    if (causes.length > 0) fields.causes = causes;
    return fields;
  }

  /** What caused it, the nearest first: the messages of errors, anything else as it is. */
  #causes(error: Error): LogValue[] {
    const causes: LogValue[] = [];
    const seen = new Set<unknown>([error]);
    let cause = error.cause;
    while (cause !== undefined && !seen.has(cause)) {
      if (causes.length === MOST_CAUSES) return [...causes, "(more)"];
      seen.add(cause);
      if (!(cause instanceof Error)) return [...causes, this.render(cause) ?? null];
      causes.push(this.#text(cause.message));
      cause = cause.cause;
    }
    return causes;
  }

  #list(values: readonly unknown[]): LogValue {
    const shown: LogValue[] = [];
    for (const value of values) {
      if (shown.length === MOST_ELEMENTS || this.#charactersLeft <= 0) break;
      this.#charactersLeft -= 1;
      shown.push(this.render(value) ?? null);
    }
    const more = values.length - shown.length;
    return more > 0 ? [...shown, `(${more} more)`] : shown;
  }

  #fields(entries: readonly (readonly [string, unknown])[]): LogValue {
    const shown: [string, LogValue][] = [];
    let seen = 0;
    for (const [name, value] of entries) {
      if (seen === MOST_ELEMENTS || this.#charactersLeft <= 0) break;
      seen += 1;
      const label = this.#text(name);
      const rendered = this.render(value);
      if (rendered !== undefined) shown.push([label, rendered]);
    }
    if (entries.length > seen) shown.push(["(more)", entries.length - seen]);
    return Object.fromEntries(shown);
  }

  #text(text: string): string {
    const most = Math.max(0, Math.min(LONGEST_TEXT, this.#charactersLeft));
    this.#charactersLeft -= Math.min(text.length, most) + 1;
    return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more)`;
  }
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}
