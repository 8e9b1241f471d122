/** Breaks prose into lines. */

/** Columns of a terminal that our texts fit into. */
export const WIDTH = 100;

/** Lines of at most `width` characters, broken at blanks; what has no blank stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
