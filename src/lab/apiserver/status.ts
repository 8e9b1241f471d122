/** Failures as Kubernetes reports them: a `Status` object with a reason, a code and, where a field is at fault, its path. */
import type { JsonMap } from "./json.ts";

/** What is wrong with one field. `reason` is Kubernetes' own, e.g. `FieldValueRequired`. */
export interface FieldIssue {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}

/** What a message names: `nodes`, `peers.kilo.squat.ai`. */
export interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** A request this server refuses. `code` is the Status reason, `httpStatus` the Status code. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly httpStatus: number;
  readonly code: string;
  readonly details: JsonMap;

  constructor(httpStatus: number, code: string, message: string, details: JsonMap = {}) {
    super(message);
    this.httpStatus = httpStatus;
    this.code = code;
    this.details = details;
  }

  /** The `Status` object that goes to the client. */
  toStatus(): JsonMap {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.code,
      details: this.details,
      code: this.httpStatus,
    };
  }
}

/** `peers.kilo.squat.ai`, or `nodes` in the core group. */
export function qualified(group: string, plural: string): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** 400: the request itself is malformed. */
export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

/** 404: the object (or its namespace) does not exist. */
export function notFound(of: Named, name: string): ApiError {
  const message = `${qualified(of.group, of.plural)} "${name}" not found`;
  return new ApiError(404, "NotFound", message, { name, group: of.group, kind: of.plural });
}

/** 404: nothing is served at this path; the message says what is, and what to use instead. */
export function notServed(what: string, instead: string): ApiError {
  const message = `cannot serve ${what}: this is the lab's embedded API server (${instead})`;
  return new ApiError(404, "NotFound", message, {
    causes: [{ reason: "UnexpectedServerResponse", message }],
  });
}

/** 405: the path is served, this method is not. */
export function methodNotAllowed(method: string, path: string): ApiError {
  const message = `cannot ${method} ${path}: the lab's embedded API server does not serve this method here`;
  return new ApiError(405, "MethodNotAllowed", message);
}

/** 409: create of what exists. */
export function alreadyExists(of: Named, name: string): ApiError {
  const message = `${qualified(of.group, of.plural)} "${name}" already exists`;
  return new ApiError(409, "AlreadyExists", message, { name, group: of.group, kind: of.plural });
}

/** 409: the object changed since the client read it, or a precondition does not hold. */
export function conflict(of: Named, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(of.group, of.plural)} "${name}": ${why}`;
  return new ApiError(409, "Conflict", message, { name, group: of.group, kind: of.plural });
}

/** 410: a resourceVersion or continue token that is older than what the server still remembers. */
export function expired(message: string): ApiError {
  return new ApiError(410, "Expired", message);
}

/** 422: the object does not fit its schema or the rules of metadata. */
export function invalid(of: Named, name: string, issues: readonly FieldIssue[]): ApiError {
  const causes = issues.map(({ field, reason, message }) => ({ reason, message, field }));
  const texts = issues.map((issue) => `${issue.field}: ${issue.message}`);
  const why = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const message = `${qualified(of.group, of.kind)} "${name}" is invalid: ${why}`;
  return new ApiError(422, "Invalid", message, { name, group: of.group, kind: of.kind, causes });
}

/** 504: a resourceVersion from the future: the client has to ask again later (or the server was emptied). */
export function tooLargeVersion(asked: number, current: number): ApiError {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new ApiError(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
}
