/** Paths: who reaches whom. A path is ok when a ping, a don't-fragment ping of the full pod MTU and a TCP transfer of 1 MB succeed. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Prober } from "./prober/index.ts";

/** One end of paths: something with an address and a prober behind it. */
export interface PathEnd {
  readonly name: string;
  readonly address: string;
  readonly prober: Prober;
  /** Bytes of the largest packet that it sends into the mesh: MTU of a pod's link, of a laptop's tunnel. */
  readonly mtu: number;
}

/** An ordered pair. */
export interface Path {
  readonly from: PathEnd;
  readonly to: PathEnd;
}

export interface CheckedPath extends Path {
  readonly result: PathResult;
}

export interface PathResult {
  readonly ok: boolean;
  /** Milliseconds, of a ping while no transfer of the same check runs. */
  readonly rtt?: number | undefined;
  /** Milliseconds of the transfer of 1 MB. */
  readonly transfer?: number | undefined;
  /** What failed first, e.g. `ping of 1420 bytes: no answer`. */
  readonly reason?: string | undefined;
}

export interface CheckOptions {
  /** Milliseconds for each of ping, full ping and transfer. @default 2000 */
  readonly timeout?: number | undefined;
}

/** Pings at a time: each is a process of some milliseconds, and there are two cores. */
const PARALLEL_PINGS = 6;

/** Transfers at a time: more overrun the receive buffers of userspace WireGuard on two cores, and then pings are lost for no fault of the mesh. */
const PARALLEL_TRANSFERS = 2;

/** Every end to every other. */
export function allPairs(ends: readonly PathEnd[]): Path[] {
  return crossPairs(ends, ends);
}

/** Every one of `froms` to every one of `tos`, but not to itself. */
export function crossPairs(froms: readonly PathEnd[], tos: readonly PathEnd[]): Path[] {
  return froms.flatMap((from) => tos.filter((to) => to !== from).map((to) => ({ from, to })));
}

/** Probes all paths once, first the pings of all, then the transfers, a bounded number at a time; the result is in the order of the input. */
export async function checkPaths(paths: readonly Path[], options: CheckOptions = {}): Promise<CheckedPath[]> {
  const timeout = options.timeout ?? 2000;
  const pinged = await inParallel(paths, PARALLEL_PINGS, async ({ from, to }) => ({
    from,
    to,
    result: await from.prober.pings(to.address, Math.min(from.mtu, to.mtu), timeout),
  }));
  return inParallel(pinged, PARALLEL_TRANSFERS, async ({ from, to, result }) => {
    if (!result.ok) return { from, to, result };
    const { ok, duration, reason } = await from.prober.transfer(to.address, timeout);
    return { from, to, result: { ok, rtt: result.rtt, transfer: duration, reason } };
  });
}

async function inParallel<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
  return results;
}

export interface WaitForPathsOptions extends CheckOptions {
  /** Milliseconds until it gives up. */
  readonly deadline: number;
  /** Hears how many of the paths are ok so far. */
  readonly progress?: ((ok: number, all: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds between two looks at paths that were not ok: short against the seconds that are measured with it. */
const RETRY = 50;

/**
 * Probes again what is not ok until all is or the deadline passes, and gives the last result of each path.
 * A path that was ok is not probed again.
 */
export async function waitForPaths(
  paths: readonly Path[],
  options: WaitForPathsOptions,
): Promise<CheckedPath[]> {
  const end = Date.now() + options.deadline;
  const latest = new Map<Path, CheckedPath>();
  let open = paths;
  for (;;) {
    for (const [index, checked] of (await checkPaths(open, { timeout: 500, ...options })).entries()) {
      const path = open[index];
      if (path !== undefined) latest.set(path, checked);
    }
    open = paths.filter((path) => latest.get(path)?.result.ok !== true);
    options.progress?.(paths.length - open.length, paths.length);
    if (open.length === 0 || Date.now() > end) break;
    await sleep(RETRY, undefined, { signal: options.signal });
  }
  return paths.map((path) => latest.get(path)).filter((checked) => checked !== undefined);
}

/** The paths that are not ok, one a line, with their reasons. Empty when all are. */
export function describeFailures(checked: readonly CheckedPath[]): string {
  return checked
    .filter((path) => !path.result.ok)
    .map((path) => `${path.from.name} -> ${path.to.name}: ${path.result.reason}`)
    .join("\n");
}
