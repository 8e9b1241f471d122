/** Reads fields of an object that came from outside, and says which one is wrong. Values are judged by `mesh`; here only their type. */
import { InputError } from "../errors.ts";

/** A field and everything above it, for messages, e.g. `mesh.yaml document 3 (Node a1): metadata.labels`. */
export class Field {
  readonly #place: string;
  readonly #path: string;
  readonly #value: unknown;

  constructor(place: string, path: string, value: unknown) {
    this.#place = place;
    this.#path = path;
    this.#value = value;
  }

  /** Whether the field is missing or null, which Kubernetes takes for the same. */
  get isAbsent(): boolean {
    return this.#value === undefined || this.#value === null;
  }

  /** A field of this one, which must be a mapping or absent. */
  child(name: string): Field {
    return new Field(this.#place, this.#path === "" ? name : `${this.#path}.${name}`, this.#mapping()[name]);
  }

  /** A text; undefined when absent. */
  text(): string | undefined {
    if (this.isAbsent) return undefined;
    if (typeof this.#value === "string") return this.#value;
    throw this.wrong(`must be a string, not ${this.#typeName()}${quoteHint(this.#value)}`);
  }

  /** A text that has to be there. */
  requiredText(): string {
    const text = this.text();
    if (text === undefined || text === "") throw this.wrong("is missing");
    return text;
  }

  /** A whole number; undefined when absent. */
  integer(): number | undefined {
    if (this.isAbsent) return undefined;
    if (typeof this.#value === "number" && Number.isSafeInteger(this.#value)) return this.#value;
    throw this.wrong(`must be a whole number, not ${this.#typeName()}`);
  }

  /** A list's elements; undefined when absent. */
  elements(): Field[] | undefined {
    if (this.isAbsent) return undefined;
    if (!Array.isArray(this.#value)) throw this.wrong(`must be a list, not ${this.#typeName()}`);
    return this.#value.map((value, index) => new Field(this.#place, `${this.#path}[${index}]`, value));
  }

  /** A list of texts; undefined when absent. */
  texts(): string[] | undefined {
    return this.elements()?.map((element) => element.text() ?? "");
  }

  /** A mapping from text to text, as labels and annotations are; undefined when absent. */
  textMap(): Record<string, string> | undefined {
    if (this.isAbsent) return undefined;
    const entries = Object.entries(this.#mapping()).map(([key, value]): [string, string] => {
      return [key, new Field(this.#place, `${this.#path}["${key}"]`, value).text() ?? ""];
    });
    return Object.fromEntries(entries);
  }

  wrong(what: string): InputError {
    return new InputError(`cannot use ${this.#place}: ${this.#path} ${what}`);
  }

  /** Texts are not shown: a key may stand where something else belongs. Nor is a value of a field for secrets. */
  #typeName(): string {
    const value = this.#value;
    const isShown = ["number", "boolean"].includes(typeof value) && !this.#path.endsWith("presharedKey");
    return isShown ? `${typeName(value)} (${value})` : typeName(value);
  }

  #mapping(): Readonly<Record<string, unknown>> {
    if (this.isAbsent) return {};
    if (isMapping(this.#value)) return this.#value;
    throw this.wrong(`must have fields, not be ${this.#typeName()}`);
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null) return "null";
  if (typeof value === "object") return "a mapping";
  return `a ${typeof value}`;
}

/** YAML reads 10 and true as they look; annotations and labels are texts. */
function quoteHint(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? ": put it in quotes" : "";
}
