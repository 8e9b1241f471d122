/** What a structural schema does to an object before it is validated: unknown fields go, defaults come. */
import { asMap, copy, isMap, type Json, type JsonMap } from "./json.ts";
import { below } from "./schema.ts";

const PRESERVE = "x-kubernetes-preserve-unknown-fields";

/** A value without the fields its schema does not know, and the paths of those fields. */
export interface Pruned {
  readonly value: Json;
  readonly unknown: readonly string[];
}

/**
 * Drops the fields that `schema` does not know, unless it says `x-kubernetes-preserve-unknown-fields`. At the root of an
 * object, apiVersion, kind and metadata are known (metadata as it is).
 */
export function prune(schema: JsonMap, value: Json, path = ""): Pruned {
  const unknown: string[] = [];
  const pruned = pruneValue(schema, value, path, unknown);
  return { value: pruned, unknown };
}

function pruneValue(schema: JsonMap, value: Json, path: string, unknown: string[]): Json {
  if (Array.isArray(value)) {
    const items = asMap(schema.items);
    return value.map((item, index) => pruneValue(items, item, `${path}[${index}]`, unknown));
  }
  if (!isMap(value)) return value;
  const properties = asMap(schema.properties);
  const kept: JsonMap = {};
  for (const [field, child] of Object.entries(value)) {
    if (child === undefined) continue;
    const childSchema = properties[field] ?? schema.additionalProperties;
    if (path === "" && (field === "apiVersion" || field === "kind" || field === "metadata"))
      kept[field] = child;
    else if (isMap(childSchema)) kept[field] = pruneValue(childSchema, child, below(path, field), unknown);
    else if (childSchema === true || schema[PRESERVE] === true) kept[field] = child;
    else unknown.push(below(path, field));
  }
  return kept;
}

/** The value with the defaults of its schema filled in; a null that is not nullable and has a default gets the default. */
export function withDefaults(schema: JsonMap, value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => withDefaults(asMap(schema.items), item));
  if (!isMap(value)) return value;
  const filled: JsonMap = { ...value };
  for (const [field, property] of Object.entries(asMap(schema.properties))) {
    const child = asMap(property);
    const absent = filled[field] === undefined || (filled[field] === null && child.nullable !== true);
    if (absent && child.default !== undefined) filled[field] = copy(child.default);
    const present = filled[field];
    if (present !== undefined) filled[field] = withDefaults(child, present);
  }
  if (!isMap(schema.additionalProperties)) return filled;
  for (const [field, child] of Object.entries(filled)) {
    if (child === undefined || asMap(schema.properties)[field] !== undefined) continue;
    filled[field] = withDefaults(schema.additionalProperties, child);
  }
  return filled;
}
