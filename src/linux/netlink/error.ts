/** What the kernel refused, with its own words. */
import { constants } from "node:os";
import type { Verdict } from "./message.ts";

const NAMES = new Map(Object.entries(constants.errno).map(([name, value]) => [value, name]));

/** A request that the kernel refused, or a socket that could not be used. */
export class NetlinkError extends Error {
  override readonly name = "NetlinkError";
  /** The errno's name, e.g. `EEXIST`; `E<number>` for one that Node does not know. */
  readonly code: string;
  /** Positive. */
  readonly errno: number;
  /** The kernel's own explanation (extended ack); undefined when it gave none. */
  readonly detail: string | undefined;

  /** `what` completes "cannot …", e.g. "add route 10.0.0.0/8". */
  constructor(what: string, verdict: Verdict) {
    const code = errnoName(verdict.errno);
    super(`cannot ${what}: ${verdict.text === undefined ? code : `${verdict.text} (${code})`}`);
    this.code = code;
    this.errno = verdict.errno;
    this.detail = verdict.text;
  }
}

/** The name of a positive errno. */
export function errnoName(errno: number): string {
  return NAMES.get(errno) ?? `E${errno}`;
}

/** Whether a value is a NetlinkError with one of these codes. */
export function isNetlinkError(value: unknown, ...codes: string[]): value is NetlinkError {
  return value instanceof NetlinkError && (codes.length === 0 || codes.includes(value.code));
}
