/** Sets of prefixes, as sorted lists without overlap: the form in which an nftables interval set holds them. */
import { comparePrefixes, containsPrefix, makePrefix, type Prefix } from "./prefix.ts";

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
