/** Failures that the server answered with, as errors that say what to do. */
import { StatusError } from "./errors.ts";
import { type Operation, operationText } from "./resources.ts";

/** What of an answer makes the error. */
export interface FailedAnswer {
  readonly status: number;
  readonly body: Buffer;
  readonly retryAfterMs?: number | undefined;
  /** Where the credentials came from, e.g. `kubeconfig /etc/k, context c`. */
  readonly source: string;
}

/** Makes the error for an answer that is not 2xx. The body may be a Status object or anything. */
export function statusErrorOfAnswer(operation: Operation, answer: FailedAnswer): StatusError {
  const status = parseStatus(answer.body);
  return makeStatusError(operation, answer.source, {
    code: answer.status,
    reason: status?.reason ?? REASONS[answer.status] ?? `Http${answer.status}`,
    message: status?.message ?? firstWords(answer.body),
    retryAfterMs: answer.retryAfterMs ?? status?.retryAfterMs,
  });
}

/** Makes the error for the object of a watch's ERROR event. */
export function statusErrorOfEvent(operation: Operation, object: unknown, source: string): StatusError {
  const status = readStatus(object);
  return makeStatusError(operation, source, {
    code: status?.code ?? 500,
    reason: status?.reason ?? "Unknown",
    message: status?.message ?? "the server sent an ERROR event without a Status",
    retryAfterMs: status?.retryAfterMs,
    isWatchEvent: true,
  });
}

/** Seconds or a date of a Retry-After header, in milliseconds from `now`; undefined when there is none that can be read. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,6}$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

interface Failure {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  readonly isWatchEvent?: boolean | undefined;
}

/** The usual reasons, for answers that come from a proxy in between and not from an API server. */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Text of a foreign answer that is quoted at most: enough to recognise a proxy's page. */
const QUOTED_BYTES = 200;

function makeStatusError(operation: Operation, source: string, failure: Failure): StatusError {
  const said = failure.message === "" ? failure.reason : `${failure.message} (${failure.reason})`;
  const advice = adviceFor(operation, source, failure.code);
  const message = `cannot ${operationText(operation)}: ${failure.code} ${said}${advice === "" ? "" : `; ${advice}`}`;
  return new StatusError(failure.code, failure.reason, message, failure);
}

function adviceFor(operation: Operation, source: string, code: number): string {
  if (code === 401) {
    return `the API server does not accept these credentials: check that the token or client certificate of ${source} is valid and not expired`;
  }
  if (code === 403) return `allow it by RBAC: ${neededRule(operation)}, bound to the account of ${source}`;
  if (code === 404 && operation.name === undefined && operation.resource.group !== "") {
    const { plural, group } = operation.resource;
    return `the server has no such resource: install the CustomResourceDefinition ${plural}.${group}`;
  }
  return "";
}

function neededRule({ verb, resource, subresource, namespace }: Operation): string {
  const kind = namespace === undefined ? "ClusterRole" : `Role in ${namespace}`;
  const target = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  return `a ${kind} with apiGroups ["${resource.group}"], resources ["${target}"], verbs ["${verb}"]`;
}

interface ReadStatus {
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

function parseStatus(body: Buffer): ReadStatus | undefined {
  try {
    return readStatus(JSON.parse(body.toString("utf8")));
  } catch {
    return undefined;
  }
}

function readStatus(value: unknown): ReadStatus | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, code, reason, message, details } = value as Record<string, unknown>;
  if (kind !== "Status") return undefined;
  return {
    code: typeof code === "number" ? code : undefined,
    reason: typeof reason === "string" && reason !== "" ? reason : undefined,
    message: typeof message === "string" ? message : undefined,
    retryAfterMs: retryAfterOf(details),
  };
}

function retryAfterOf(details: unknown): number | undefined {
  if (typeof details !== "object" || details === null) return undefined;
  const seconds = (details as Record<string, unknown>).retryAfterSeconds;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : undefined;
}

function firstWords(body: Buffer): string {
  return body.subarray(0, QUOTED_BYTES).toString("utf8").replace(/\s+/g, " ").trim();
}
