/** Server-side apply without conflicts: what a manager applied before and no longer names goes, the rest merges. */
import { asMap, isMap, type Json, type JsonMap } from "./json.ts";
import { type ListKinds, sameItem } from "./list-kinds.ts";

/**
 * The object after a manager applied `wanted`. `before` is what the same manager applied the last time (undefined: never).
 * Another manager's fields stay unless `wanted` sets them: the last one to apply wins, as with `--force-conflicts`.
 */
export function serverSideApply(
  live: JsonMap,
  before: JsonMap | undefined,
  wanted: JsonMap,
  lists: ListKinds,
): JsonMap {
  const kept = before === undefined ? live : withoutFields(live, before, wanted, lists, []);
  return asMap(merge(kept, wanted, lists, []));
}

function merge(live: Json | undefined, wanted: Json, lists: ListKinds, path: readonly string[]): Json {
  if (isMap(wanted)) {
    const merged: JsonMap = isMap(live) ? { ...live } : {};
    for (const [field, value] of Object.entries(wanted)) {
      if (value === null || value === undefined) continue;
      merged[field] = merge(merged[field], value, lists, [...path, field]);
    }
    return merged;
  }
  if (!Array.isArray(wanted) || !Array.isArray(live)) return wanted;
  const kind = lists(path);
  if (kind === "atomic") return wanted;
  if (kind === "set") return [...live, ...wanted.filter((item) => !live.includes(item))];
  const merged = [...live];
  for (const item of wanted) {
    const index = merged.findIndex((present) => sameItem(present, item, kind));
    if (index < 0) merged.push(item);
    else merged[index] = merge(merged[index], item, lists, path);
  }
  return merged;
}

/** `live` without the leaves that are in `before` but not in `wanted`; a map or item that becomes empty that way goes too. */
function withoutFields(
  live: JsonMap,
  before: JsonMap,
  wanted: JsonMap,
  lists: ListKinds,
  path: readonly string[],
): JsonMap {
  const kept: JsonMap = { ...live };
  for (const [field, old] of Object.entries(before)) {
    const now = live[field];
    if (old === undefined || now === undefined) continue;
    const left = withoutValue(now, old, wanted[field], lists, [...path, field]);
    if (left === undefined) delete kept[field];
    else kept[field] = left;
  }
  return kept;
}

function withoutValue(
  live: Json,
  old: Json,
  wanted: Json | undefined,
  lists: ListKinds,
  path: readonly string[],
): Json | undefined {
  if (isMap(live) && isMap(old)) {
    const left = withoutFields(live, old, asMap(wanted), lists, path);
    return wanted === undefined && Object.keys(left).length === 0 ? undefined : left;
  }
  const kind = lists(path);
  if (!Array.isArray(live) || !Array.isArray(old) || kind === "atomic")
    return wanted === undefined ? undefined : live;
  const named = Array.isArray(wanted) ? wanted : [];
  const left = live.flatMap((item) => itemLeft(item, old, named, lists, path));
  return wanted === undefined && left.length === 0 ? undefined : left;
}

function itemLeft(
  item: Json,
  old: Json[],
  wanted: Json[],
  lists: ListKinds,
  path: readonly string[],
): Json[] {
  const kind = lists(path);
  const same = (other: Json): boolean =>
    typeof kind === "string" ? item === other : sameItem(item, other, kind);
  const oldItem = old.find(same);
  if (oldItem === undefined) return [item];
  const wantedItem = wanted.find(same);
  if (wantedItem === undefined) return [];
  return isMap(item) ? [withoutFields(item, asMap(oldItem), asMap(wantedItem), lists, path)] : [item];
}
