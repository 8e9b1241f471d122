/** What can go wrong between kg and an API server. Every message says what was tried, why it failed and what to do. */

export interface KubeErrorOptions {
  readonly cause?: unknown;
}

/** The root of this room's errors. `code` is stable and may be compared; the message is for people. */
export abstract class KubeError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options: KubeErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * Credentials or kubeconfig are missing, malformed or of a kind that is not served. Never quotes the file: it holds secrets.
 * Codes: `NoCluster`, `Unreadable`, `Malformed`, `Unsupported`.
 */
export class ConfigError extends KubeError {}

/** No answer: nothing listens, the name does not resolve, the network is down or silent. `code` is Node's, e.g. `ECONNREFUSED`. */
export class UnreachableError extends KubeError {}

/** TLS did not come about: unknown CA, expired, wrong name, refused client certificate. `code` is Node's, e.g. `CERT_HAS_EXPIRED`. */
export class TlsError extends KubeError {}

/** An answer that no API server gives: not JSON, too large, cut off. Codes: `NotJson`, `NotHttp`, `TooLarge`, `CutOff`, `Silent`. */
export class ProtocolError extends KubeError {}

export interface StatusErrorOptions extends KubeErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly isWatchEvent?: boolean | undefined;
}

/** The server answered with a failure. `code` is the Status object's reason, e.g. `NotFound`, `Conflict`, `Expired`. */
export class StatusError extends KubeError {
  /** The HTTP status, or the code inside an ERROR event of a watch. */
  readonly status: number;
  /** How long the server asked to wait; undefined when it did not. */
  readonly retryAfterMs: number | undefined;
  /** Whether it came as an ERROR event inside a watch that had begun with 200. */
  readonly isWatchEvent: boolean;

  constructor(status: number, code: string, message: string, options: StatusErrorOptions = {}) {
    super(code, message, options);
    this.status = status;
    this.retryAfterMs = options.retryAfterMs;
    this.isWatchEvent = options.isWatchEvent ?? false;
  }
}

/** Whether the resource version or continue token is too old to go on with: list again. */
export function isExpired(error: unknown): boolean {
  return error instanceof StatusError && error.status === 410;
}

/** Whether the object, or the whole resource (a CRD that is not installed), is not there. */
export function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.status === 404;
}

/** Whether another writer was first: a stale resource version, or a name that is taken. */
export function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.status === 409;
}
