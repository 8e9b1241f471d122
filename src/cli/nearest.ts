/** Guesses which name was meant. */

/** The known name that fewest edits turn `typed` into, when those are few enough to be a slip; else undefined. */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  // A third of the letters wrong is a slip; more is another word.
  let best = Math.max(2, Math.ceil(typed.length / 3)) + 1;
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

/** Levenshtein: insertions, deletions and replacements. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (previous[j] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(replaced, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    previous = row;
  }
  return previous.at(-1) ?? 0;
}
