/** For tests of the reflector: one that stands on a fake client and a fake clock. */
import { StatusError, UnreachableError } from "./errors.ts";
import { createFakeClock } from "./fake-clock.test-kit.ts";
import { createFakeListWatch } from "./fake-list-watch.test-kit.ts";
import type { RawObject } from "./objects.ts";
import { createReflector } from "./reflector.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { NODES } from "./resources.ts";

export const GONE = new StatusError(410, "Expired", "too old resource version");
export const AWAY = new UnreachableError("ECONNREFUSED", "away");

type Fake = ReturnType<typeof createFakeListWatch>;
export type Clock = ReturnType<typeof createFakeClock>;
/** What these tests keep of an object. */
export type Kept = { uid: string | undefined };

/** A reflector on a fake client and clock, without jitter, and a log of what it told. */
export function begin(options: Partial<ReflectorOptions<Kept>> = {}) {
  const clock = createFakeClock();
  const fake = createFakeListWatch();
  const log: string[] = [];
  const retries: number[] = [];
  const statuses: string[] = [];
  const signs = { added: "+", changed: "~", removed: "-" } as const;
  const reflector = createReflector<Kept>({
    client: fake,
    resource: NODES,
    project: (node: RawObject) => ({ uid: node.metadata.uid }),
    onChange: (change) => log.push(signs[change.kind] + change.name),
    onSynced: () => log.push("synced"),
    onStatus: (status) => {
      statuses.push(status.kind);
      if (status.kind === "failed") retries.push(status.retryInMs);
    },
    clock,
    random: () => 0,
    ...options,
  });
  return { clock, fake, log, reflector, retries, statuses, settle: () => clock.settle() };
}

/** Starts it and answers its first list; the watch that follows is `fake.watches[0]`. */
export async function sync(
  fake: Fake,
  reflector: { start(): void },
  settle: () => Promise<void>,
  objects: readonly (string | RawObject)[],
): Promise<void> {
  reflector.start();
  await settle();
  fake.lists[0]?.answer(objects, "10");
  await settle();
}
