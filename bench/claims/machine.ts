/** The machine on which something was measured: without it a figure says nothing. */
import { cpus, loadavg, release, totalmem } from "node:os";

/** As `bin/kg` starts Node.js: less memory, and more work for the garbage collector. */
export const KG_NODE_FLAGS = ["--optimize-for-size", "--max-semi-space-size=1", "--v8-pool-size=1"] as const;

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly kernel: string;
  readonly node: string;
  /** Mean number of processes that wanted a core in the last minute: above the number of cores, times are those of a queue. */
  readonly load: number;
}

export function describeMachine(): Machine {
  const cores = cpus();
  return {
    cpu: cores[0]?.model.trim() ?? "unknown",
    cores: cores.length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}
