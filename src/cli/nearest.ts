/** Guesses which name was meant. */

/** The known name that fewest edits turn `typed` into, when those are few enough to be a slip; else undefined. */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  // One letter wrong of every three is a slip; more is another word.
  let best = Math.max(1, Math.floor(typed.length / 3)) + 1;
  let nearest: string | undefined;
  for (const name of known) {
    const edits = editDistance(typed, name);
    if (edits >= best) continue;
    best = edits;
    nearest = name;
  }
  return nearest;
}

/** ` (did you mean NAME?)`, or nothing. */
export function didYouMean(typed: string, known: readonly string[], mark = ""): string {
  const nearest = nearestName(typed, known);
  return nearest === undefined ? "" : ` (did you mean ${mark}${nearest}?)`;
}

/** Insertions, deletions, replacements, and neighbours that changed places (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (previous[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const inserted = (row[j] ?? 0) + 1;
      const deleted = (previous[j + 1] ?? 0) + 1;
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwap ? (before[j - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(replaced, inserted, deleted, swapped));
    }
    before = previous;
    previous = row;
  }
  return previous.at(-1) ?? 0;
}
