/** The verb `lab demo`: flags, signals, exit status. */
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { runDemo } from "./demo.ts";
import { terminalSteps } from "./steps.ts";

/** Runs the demo. Resolves to the exit status: 0 when all paths were ok (or it was ended by a signal after that), else 1. */
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
  const ok = await runDemo({
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
  return ok ? 0 : 1;
}
