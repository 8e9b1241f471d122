/** Who reaches whom, as a table for the terminal. Pure. */
import type { CheckedPath } from "./paths.ts";

/**
 * A row for each source, a column for each destination; a cell is the round-trip time in milliseconds, `FAIL`, or `·` where nothing was probed.
 * @param columns names of all destinations, in the order to show. @default the order in which they first appear
 */
export function pathTable(checked: readonly CheckedPath[], columns?: readonly string[]): string {
  const sources = [...new Set(checked.map((path) => path.from.name))];
  const targets = columns ?? [...new Set(checked.map((path) => path.to.name))];
  const cells = new Map(checked.map((path) => [`${path.from.name} ${path.to.name}`, cellText(path)]));
  const rows = [
    ["from \\ to", ...targets],
    ...sources.map((source) => [source, ...targets.map((target) => cells.get(`${source} ${target}`) ?? "·")]),
  ];
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) => rowText(row, widths)).join("\n");
}

/** One line: how many of the paths are ok. */
export function pathSummary(checked: readonly CheckedPath[]): string {
  const ok = checked.filter((path) => path.result.ok).length;
  return `${ok}/${checked.length} paths ok`;
}

function cellText(path: CheckedPath): string {
  const { ok, rtt } = path.result;
  if (!ok || rtt === undefined) return "FAIL";
  return rtt < 10 ? rtt.toFixed(2) : rtt.toFixed(0);
}

function rowText(row: readonly string[], widths: readonly number[]): string {
  const [first = "", ...rest] = row;
  const cells = rest.map((cell, index) => cell.padStart(widths[index + 1] ?? 0));
  return [first.padEnd(widths[0] ?? 0), ...cells].join("  ").trimEnd();
}
