/** One section of a plan as text. */
import { WIDTH, wrap } from "../wrap.ts";

/** What a section's lines are indented by. */
const INDENT = 2;

/** A headline and its lines as they are, each indented; `(none)` for an empty one, so that nothing is missing without a word. */
export function section(title: string, lines: readonly string[]): string {
  const body = lines.length === 0 ? ["(none)"] : lines;
  return `${title}:\n${body.map((line) => (line === "" ? "\n" : `${" ".repeat(INDENT)}${line}\n`)).join("")}`;
}

/** Text as lines that fit into a section on a terminal; those behind the first are indented by `hang` more. */
export function folded(text: string, hang = 2): string[] {
  const [first = "", ...more] = wrap(text, WIDTH - INDENT - hang);
  return [first, ...more.map((line) => `${" ".repeat(hang)}${line}`)];
}
