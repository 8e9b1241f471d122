/** The time of a plan: given, or the newest sign of life in the input. */
import { lastSeenOf, type NodeObject } from "../../mesh/index.ts";
import { UsageError } from "../errors.ts";

/** `--now` as Unix seconds or RFC 3339. @throws UsageError for anything else */
export function readNow(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
  const milliseconds = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(milliseconds)) return Math.floor(milliseconds / 1000);
  throw new UsageError(
    `cannot use --now: neither Unix seconds nor a time like 2026-01-31T12:00:00Z (${text})`,
  );
}

/** The newest `last-seen` of all nodes in Unix seconds; 0 when there is none. */
export function newestLastSeen(nodes: readonly NodeObject[]): number {
  return nodes.map(lastSeenOf).reduce((newest, seen) => Math.max(newest, seen), 0);
}
