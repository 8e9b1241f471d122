/** The machine on which something was measured: without it a figure says nothing. */
import { cpus, release, totalmem } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly kernel: string;
  readonly node: string;
}

export function describeMachine(): Machine {
  const cores = cpus();
  return {
    cpu: cores[0]?.model.trim() ?? "unknown",
    cores: cores.length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
  };
}
