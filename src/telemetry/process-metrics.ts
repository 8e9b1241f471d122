/** The `process_*` metrics that every Prometheus client has, by the same names (kilo.md §1.4). */
import { readdirSync } from "node:fs";
import type { Registry } from "./metrics.ts";

/** Adds CPU time, resident memory, start time and open files of this process; they are read when they are rendered. */
export function addProcessMetrics(registry: Registry): void {
  const cpu = registry.counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent, in seconds.",
  });
  const memory = registry.gauge({ name: "process_resident_memory_bytes", help: "Resident memory in bytes." });
  const start = registry.gauge({
    name: "process_start_time_seconds",
    help: "Start of the process in seconds since 1970.",
  });
  const files = registry.gauge({ name: "process_open_fds", help: "Open file descriptors." });
  start.set(Date.now() / 1000 - process.uptime());
  let counted = 0;
  registry.beforeRender(() => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    cpu.add(seconds - counted);
    counted = seconds;
    memory.set(process.memoryUsage.rss());
  });
  registry.beforeRender(() => files.set(openFiles()));
}

/** The listing itself has one file open. */
function openFiles(): number {
  return readdirSync("/proc/self/fd").length - 1;
}
