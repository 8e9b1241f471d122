/** Failures of single operations, as values: one that fails does not keep the others from being done (promise 4). */
import { isNetlinkError } from "./netlink/index.ts";
import type { ApplyFailure } from "./ports.ts";

/** What went wrong in one operation. `code` is the error's own where it has one, else `UNKNOWN`. */
export function failureOf(part: ApplyFailure["part"], subject: string, cause: unknown): ApplyFailure {
  const message = cause instanceof Error ? cause.message : String(cause);
  return { part, subject, code: codeOf(cause), message, cause };
}

/** A failure that was found before anything was tried. */
export function refusal(
  part: ApplyFailure["part"],
  subject: string,
  code: string,
  message: string,
): ApplyFailure {
  return { part, subject, code, message };
}

function codeOf(cause: unknown): string {
  if (isNetlinkError(cause)) return cause.code;
  const code = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  return typeof code === "string" ? code : "UNKNOWN";
}
