/** Label and field selectors, as in the query parameters `labelSelector` and `fieldSelector`. */
import { type ApiObject, asMap, type Json } from "./json.ts";
import { badRequest } from "./status.ts";

/** Whether an object is selected. */
export type Selector = (object: ApiObject) => boolean;

/** Selects what both select. */
export function both(a: Selector, b: Selector): Selector {
  return (object) => a(object) && b(object);
}

/** Selects everything. */
export const everything: Selector = () => true;

/**
 * Parses a label selector: `a=b`, `a!=b`, `a in (x,y)`, `a notin (x,y)`, `a`, `!a`, `a>1`, `a<1`, joined by commas.
 * As in Kubernetes, `!=` and `notin` also select objects without the label. Throws a 400 on anything else.
 */
export function parseLabelSelector(text: string): Selector {
  if (text.trim() === "") return everything;
  // A comma inside the parentheses of a set does not separate requirements.
  const requirements = text.split(/,(?![^(]*\))/).map((part) => parseRequirement(part.trim()));
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return requirements.every((fits) => fits(labels));
  };
}

type Requirement = (labels: Record<string, string>) => boolean;

const KEY = "[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?";
const EXISTS = new RegExp(`^(!?)\\s*(${KEY})$`);
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const COMPARISON = new RegExp(`^(${KEY})\\s*(==|=|!=|>|<)\\s*([-A-Za-z0-9_.]*)$`);

function parseRequirement(text: string): Requirement {
  const exists = EXISTS.exec(text);
  if (exists !== null) {
    const [, not, key = ""] = exists;
    return (labels) => key in labels === (not === "");
  }
  const set = SET.exec(text);
  if (set !== null) {
    const [, key = "", , operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return (labels) => values.includes(labels[key] ?? "\0") === (operator === "in");
  }
  const comparison = COMPARISON.exec(text);
  if (comparison === null) throw badRequest(`unable to parse requirement: found '${text}'`);
  const [, key = "", , operator, value = ""] = comparison;
  if (operator === "!=") return (labels) => labels[key] !== value;
  if (operator === ">") return (labels) => Number(labels[key]) > Number(value);
  if (operator === "<") return (labels) => Number(labels[key]) < Number(value);
  return (labels) => labels[key] === value;
}

/**
 * Parses a field selector: `path=value`, `path==value`, `path!=value`, joined by commas; `metadata.name` and
 * `metadata.namespace` always, other paths only when listed in `supported`. Throws a 400 on anything else.
 */
export function parseFieldSelector(text: string, supported: readonly string[]): Selector {
  if (text.trim() === "") return everything;
  const terms = text.split(/(?<!\\),/).map((term) => parseFieldTerm(term, supported));
  return (object) => terms.every((fits) => fits(object));
}

function parseFieldTerm(term: string, supported: readonly string[]): Selector {
  const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trim());
  if (match === null) throw badRequest(`invalid field selector: "${term}"; can't understand it`);
  const [, path = "", operator, raw = ""] = match;
  if (path !== "metadata.name" && path !== "metadata.namespace" && !supported.includes(path)) {
    throw badRequest(`field label not supported: ${path}`);
  }
  const value = raw.replace(/\\([\\,=])/g, "$1");
  return (object) => (fieldText(object, path) === value) === (operator !== "!=");
}

function fieldText(object: ApiObject, path: string): string {
  let value: Json | undefined = object;
  for (const name of path.split(".")) value = asMap(value)[name];
  return value === undefined || value === null || typeof value === "object" ? "" : String(value);
}
