/** The part of Kubernetes' JSONPath that printer columns use: fields, indexes, `[*]` and `[?(@.field=="value")]`. */
import { asMap, type Json } from "./json.ts";

/** All values a path such as `.status.conditions[?(@.type=="Ready")].status` leads to; none when it cannot be read. */
export function jsonPath(root: Json, path: string): Json[] {
  let values: Json[] = [root];
  let rest = path;
  while (rest !== "") {
    const step = STEP.exec(rest);
    if (step === null) return [];
    rest = rest.slice(step[0].length);
    values = values.flatMap((value) => follow(value, step.groups ?? {}));
  }
  return values;
}

const STEP = new RegExp(
  [
    String.raw`^\.(?<field>(?:[^.[\]\\]|\\.)+)`,
    String.raw`^\['(?<quoted>[^']+)'\]`,
    String.raw`^\[(?<index>-?\d+)\]`,
    String.raw`^\[(?<all>\*)\]`,
    String.raw`^\[\?\(@\.(?<key>[\w.-]+)\s*==\s*["'](?<wanted>[^"']*)["']\)\]`,
  ].join("|"),
);

function follow(value: Json, step: Record<string, string | undefined>): Json[] {
  const field = step.field?.replace(/\\(.)/g, "$1") ?? step.quoted;
  if (field !== undefined) {
    const found = asMap(value)[field];
    return found === undefined ? [] : [found];
  }
  const items = Array.isArray(value) ? value : [];
  if (step.index !== undefined) return items.slice(Number(step.index)).slice(0, 1);
  if (step.key === undefined) return items;
  const { key, wanted } = step;
  return items.filter((item) => jsonPath(item, `.${key}`)[0] === wanted);
}
