/** Sets of prefixes, as sorted lists without overlap: the form in which an nftables interval set holds them. */
import { comparePrefixes, containsPrefix, lastAddress, makePrefix, overlaps, type Prefix } from "./prefix.ts";

/** The shortest sorted list of prefixes that covers exactly the same addresses. */
export function mergePrefixes(prefixes: Iterable<Prefix>): Prefix[] {
  const merged: Prefix[] = [];
  for (const prefix of [...prefixes].sort(comparePrefixes)) {
    const last = merged.at(-1);
    if (last !== undefined && containsPrefix(last, prefix)) continue;
    merged.push(prefix);
    joinSiblings(merged);
  }
  return merged;
}

/** Removes duplicates; keeps overlaps and the order of first appearance. */
export function uniquePrefixes(prefixes: Iterable<Prefix>): Prefix[] {
  const seen = new Map<string, Prefix>();
  for (const prefix of prefixes) if (!seen.has(prefix.text)) seen.set(prefix.text, prefix);
  return [...seen.values()];
}

/** Joins the last two prefixes while they are the two halves of one network. */
function joinSiblings(sorted: Prefix[]): void {
  for (;;) {
    const right = sorted.at(-1);
    const left = sorted.at(-2);
    if (left === undefined || right === undefined || left.family !== right.family) return;
    if (left.length !== right.length || left.length === 0) return;
    const parent = makePrefix(left.base, left.length - 1);
    if (!containsPrefix(parent, right)) return;
    sorted.splice(-2, 2, parent);
  }
}

/** What is left of prefixes without the holes: the fewest prefixes, sorted, without overlap. */
export function subtractPrefixes(prefixes: Iterable<Prefix>, holes: Iterable<Prefix>): Prefix[] {
  const merged = mergePrefixes(holes);
  return mergePrefixes(prefixes).flatMap((prefix) => {
    const met = merged.filter((hole) => overlaps(prefix, hole));
    return without(prefix, met);
  });
}

/** @param holes such as overlap the prefix */
function without(prefix: Prefix, holes: readonly Prefix[]): Prefix[] {
  if (holes.length === 0) return [prefix];
  if (holes.some((hole) => containsPrefix(hole, prefix))) return [];
  return halvesOf(prefix).flatMap((half) => {
    const met = holes.filter((hole) => overlaps(half, hole));
    return without(half, met);
  });
}

function halvesOf(prefix: Prefix): Prefix[] {
  const lower = makePrefix(prefix.base, prefix.length + 1);
  const upper = makePrefix(lastAddress(prefix), prefix.length + 1);
  return [lower, upper];
}
