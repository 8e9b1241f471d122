/**
 * The first contact with the API server. An agent that never reaches it, on a host that has no mesh yet, ends with what is wrong: there is
 * nothing to keep, and whoever started it sees it. Where a mesh stands, it waits for however long (promise 8): to end would only delay it.
 * See docs/decisions/0008-first-contact.md.
 */
import type { HostDriver } from "../linux/index.ts";
import type { Logger } from "../telemetry/index.ts";

/** Long enough for an API server that starts beside us or a name that is not served yet; short for somebody who waits at a terminal. */
const FIRST_CONTACT_MS = 30_000;

/** The API server was never reached. The message says why, and what to do. */
export class NoContactError extends Error {
  readonly code = "no-contact";
}

export interface FirstContactParts {
  readonly nodes: { readonly synced: boolean; readonly lastError: unknown };
  readonly host: Pick<HostDriver, "readDevice">;
  readonly log: Logger;
}

/** Rejects with NoContactError when the time is over without a list of nodes and no mesh link stands; never resolves. */
export function firstContact({ nodes, host, log }: FirstContactParts): Promise<never> {
  return new Promise((_resolve, reject) => {
    const timer = setTimeout(async () => {
      if (nodes.synced) return;
      const device = await host.readDevice().catch(() => undefined);
      if (device === undefined) reject(noContact(nodes.lastError));
      else
        log.warn("no contact with the API server yet; the mesh that stands is kept", {
          error: nodes.lastError,
        });
    }, FIRST_CONTACT_MS);
    timer.unref();
  });
}

function noContact(cause: unknown): NoContactError {
  const reason = cause instanceof Error ? cause.message : "no list of nodes came";
  return new NoContactError(
    `cannot start: no contact with the API server within ${FIRST_CONTACT_MS / 1000} s: ${reason}`,
    { cause },
  );
}
