/** Waits until a resource exists: a CRD that is not installed yet is no reason to die (reports K-09, K-86). */
import { backoff } from "./backoff.ts";
import type { ListWatch } from "./client.ts";
import { type Clock, pause, systemClock } from "./clock.ts";
import type { KubeObject } from "./objects.ts";
import { PEERS, type Resource } from "./resources.ts";

export interface WaitForResourceOptions {
  readonly client: Pick<ListWatch, "listPage">;
  /** Told after each try that failed. The error's message says what to install or to allow. */
  readonly onWaiting?: ((error: unknown, retryInMs: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** Uniform in [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** Resolves once Peers can be listed, however long that takes. Needs only the permission to list them. Rejects with the signal's reason. */
export function waitForPeersResource(options: WaitForResourceOptions): Promise<void> {
  return waitForResource(PEERS, options);
}

/** Resolves once the resource can be listed, however long that takes. Rejects with the signal's reason only. */
export async function waitForResource<T extends KubeObject>(
  resource: Resource<T>,
  options: WaitForResourceOptions,
): Promise<void> {
  const { client, onWaiting, signal, clock = systemClock, random = Math.random } = options;
  for (let failures = 1; ; failures++) {
    signal?.throwIfAborted();
    try {
      await client.listPage(resource, { limit: 1, signal });
      return;
    } catch (error) {
      signal?.throwIfAborted();
      const retryInMs = backoff(failures, error, random);
      onWaiting?.(error, retryInMs);
      await pause(clock, retryInMs, signal);
    }
  }
}
