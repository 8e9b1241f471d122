/** Which of many prefixes contain, or lie inside, a given one: the question behind conflicts and longest match. */
import { comparePrefixes, containsPrefix, type Prefix } from "./prefix.ts";

/** A prefix of an index and what it was entered with. */
export type PrefixEntry<Value> = readonly [prefix: Prefix, value: Value];

/**
 * A fixed set of prefixes with a value each. The same prefix may be entered with several values.
 * Building takes O(n log n); a question O(log n) and the size of its answer, whatever the nesting.
 */
export interface PrefixIndex<Value> {
  /** Entries that contain `prefix`, the narrowest first: the first one is the longest match. Entries with equal prefixes as they were given. */
  covering(prefix: Prefix): PrefixEntry<Value>[];
  /** Entries that lie inside `prefix` or are equal to it, by `comparePrefixes`. Entries with equal prefixes as they were given. */
  within(prefix: Prefix): PrefixEntry<Value>[];
}

/** Builds an index; later changes of `entries` do not reach it. */
export function createPrefixIndex<Value>(entries: Iterable<PrefixEntry<Value>>): PrefixIndex<Value> {
  return new SortedPrefixIndex(entries);
}

/** One distinct prefix. Prefixes either nest or are disjoint, so "the narrowest one around it" makes them a forest. */
interface Place<Value> {
  readonly prefix: Prefix;
  readonly entries: PrefixEntry<Value>[];
  readonly parent: Place<Value> | undefined;
}

class SortedPrefixIndex<Value> implements PrefixIndex<Value> {
  /** By `comparePrefixes`: a place stands directly before all that lie inside it. */
  readonly #places: Place<Value>[] = [];

  constructor(entries: Iterable<PrefixEntry<Value>>) {
    for (const entry of [...entries].sort((a, b) => comparePrefixes(a[0], b[0]))) this.#append(entry);
  }

  covering(prefix: Prefix): PrefixEntry<Value>[] {
    const found: PrefixEntry<Value>[] = [];
    // Whatever contains `prefix` also contains the last place at or before it, or is that place.
    let place = this.#places[this.#countBefore(prefix, true) - 1];
    for (; place !== undefined; place = place.parent) {
      if (containsPrefix(place.prefix, prefix)) found.push(...place.entries);
    }
    return found;
  }

  within(prefix: Prefix): PrefixEntry<Value>[] {
    const found: PrefixEntry<Value>[] = [];
    for (let i = this.#countBefore(prefix, false); i < this.#places.length; i++) {
      const place = this.#places[i];
      if (place === undefined || !containsPrefix(prefix, place.prefix)) break;
      found.push(...place.entries);
    }
    return found;
  }

  #append(entry: PrefixEntry<Value>): void {
    const [prefix] = entry;
    let parent = this.#places.at(-1);
    if (parent?.prefix.text === prefix.text) {
      parent.entries.push(entry);
      return;
    }
    while (parent !== undefined && !containsPrefix(parent.prefix, prefix)) parent = parent.parent;
    this.#places.push({ prefix, entries: [entry], parent });
  }

  /** How many places stand before `prefix`, or before and at it. */
  #countBefore(prefix: Prefix, andAt: boolean): number {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const place = this.#places[middle];
      const order = place === undefined ? 1 : comparePrefixes(place.prefix, prefix);
      if (order < 0 || (andAt && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
