/** Strategic merge patch: like a JSON merge patch, but lists of built-in kinds merge by key, and directives steer it. */
import { equal, isMap, type Json, type JsonMap } from "./json.ts";
import { type ListKind, type ListKinds, sameItem } from "./list-kinds.ts";

const DELETE_FROM = "$deleteFromPrimitiveList/";

/**
 * Merges `patch` into `target`, which is not changed. Directives served: `$patch: replace|delete|merge` in maps and in items
 * of keyed lists, `$deleteFromPrimitiveList/FIELD`; `$setElementOrder/FIELD` and `$retainKeys` do not change what is in
 * the result and are dropped.
 */
export function strategicMerge(target: JsonMap, patch: JsonMap, lists: ListKinds): JsonMap {
  return mergeMaps(target, patch, lists, []);
}

function mergeMaps(target: JsonMap, patch: JsonMap, lists: ListKinds, path: readonly string[]): JsonMap {
  if (patch.$patch === "delete") return {};
  const merged: JsonMap = patch.$patch === "replace" ? {} : { ...target };
  for (const [field, value] of Object.entries(patch)) {
    if (field.startsWith(DELETE_FROM)) deleteScalars(merged, field.slice(DELETE_FROM.length), value);
    else if (field.startsWith("$")) continue;
    else if (value === null || value === undefined) delete merged[field];
    else merged[field] = mergeValue(merged[field], value, lists, [...path, field]);
  }
  return merged;
}

function mergeValue(target: Json | undefined, patch: Json, lists: ListKinds, path: readonly string[]): Json {
  if (isMap(patch)) return mergeMaps(isMap(target) ? target : {}, patch, lists, path);
  if (!Array.isArray(patch)) return patch;
  return mergeLists(Array.isArray(target) ? target : [], patch, lists, path);
}

function mergeLists(target: Json[], patch: Json[], lists: ListKinds, path: readonly string[]): Json[] {
  const kind: ListKind = lists(path);
  if (kind === "atomic") return patch;
  if (kind === "set") return [...target, ...patch.filter((item) => !target.includes(item))];
  const replaces = patch.some((item) => isMap(item) && item.$patch === "replace");
  let merged = replaces ? [] : [...target];
  for (const item of patch) {
    if (!isMap(item) || item.$patch === "replace") continue;
    const index = merged.findIndex((present) => sameItem(present, item, kind));
    if (item.$patch === "delete") merged = merged.filter((present) => !sameItem(present, item, kind));
    else if (index < 0) merged.push(mergeMaps({}, item, lists, path));
    else merged[index] = mergeValue(merged[index], item, lists, path);
  }
  return merged;
}

function deleteScalars(merged: JsonMap, field: string, gone: Json | undefined): void {
  const present = merged[field];
  if (!Array.isArray(present) || !Array.isArray(gone)) return;
  merged[field] = present.filter((item) => !gone.some((other) => equal(item, other)));
}
