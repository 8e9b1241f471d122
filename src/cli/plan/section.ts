/** One section of a plan as text. */

/** A headline and its lines, each indented; `(none)` for an empty one, so that nothing is missing without a word. */
export function section(title: string, lines: readonly string[]): string {
  const body = lines.length === 0 ? ["(none)"] : lines;
  return `${title}:\n${body.map((line) => (line === "" ? "\n" : `  ${line}\n`)).join("")}`;
}
