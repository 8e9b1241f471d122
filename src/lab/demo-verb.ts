/** The verb `lab demo`: flags, signals, exit status. */
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { runDemo } from "./demo.ts";
import { terminalSteps } from "./steps.ts";

/** Exit status of a program that was stopped by Ctrl-C, as shells have it: 128 + SIGINT. */
const INTERRUPTED = 130;

/** Runs the demo. Resolves to the exit status: 0 when all paths were ok (also when it was ended by a signal after that), 130 when it was stopped before, else 1. */
export async function demo(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      once: { type: "boolean", default: false },
      wireguard: { type: "string", default: "userspace" },
    },
  });
  const wireguard = values.wireguard;
  if (wireguard !== "userspace" && wireguard !== "kernel") {
    throw new Error(`cannot use --wireguard=${wireguard}: userspace and kernel are served`);
  }
  const ended = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ended.abort());

  // The bundle stands in dist/, the other programs beside it.
  const program = process.argv[1] ?? "";
  const running = runDemo({
    once: values.once,
    wireguard,
    program,
    kg: [join(dirname(program), "../bin/kg")],
    steps: terminalSteps(
      (text) => process.stdout.write(text),
      process.stdout.isTTY ?? false,
      () => performance.now(),
    ),
    print: (text) => process.stdout.write(`${text}\n`),
    width: process.stdout.columns ?? 100,
    signal: ended.signal,
  });
  try {
    return (await running) ? 0 : 1;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
    console.error("\nstopped; nothing is left");
    return INTERRUPTED;
  }
}
