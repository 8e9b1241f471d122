/** How long to wait before the next try: full jitter under a ceiling that doubles, so that a thousand agents do not march in step. */
import { StatusError, UnreachableError } from "./errors.ts";

/** Ceiling of the first pause; the figure of the usual Kubernetes client, so that a restart looks the same to the server. */
const FIRST_MS = 800;

/** Ceiling for answers that cost the server something: overload, refusals, failed handshakes. */
const LONGEST_MS = 30_000;

/** Ceiling while nothing answers: a try costs a dead server nothing, and changes made while it was away must be in within 5 s. */
const LONGEST_UNREACHABLE_MS = 3_000;

/** Ceiling while a resource is not installed: K-09 and K-86 want the mesh to come up soon after the CRD does. */
const LONGEST_NOT_FOUND_MS = 10_000;

/**
 * Milliseconds to wait after the `failures`-th failure in a row (1 is the first). `random` is uniform in [0, 1).
 * A Retry-After of the server is the least; the jitter comes on top of it.
 */
export function backoff(failures: number, error: unknown, random: () => number): number {
  const ceiling = Math.min(longest(error), FIRST_MS * 2 ** Math.min(failures - 1, 16));
  const asked = error instanceof StatusError ? (error.retryAfterMs ?? 0) : 0;
  return Math.min(asked, LONGEST_MS) + random() * ceiling;
}

function longest(error: unknown): number {
  if (error instanceof UnreachableError) return LONGEST_UNREACHABLE_MS;
  if (error instanceof StatusError && error.status === 404) return LONGEST_NOT_FOUND_MS;
  return LONGEST_MS;
}
