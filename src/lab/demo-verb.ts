/** The verb `lab demo`: flags, signals, exit status. */
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { runDemo } from "./demo.ts";
import { terminalSteps } from "./steps.ts";

/** Exit status of a program that was stopped by Ctrl-C, as shells have it: 128 + SIGINT. */
const INTERRUPTED = 130;

/** Exit status when the command line makes no sense, as kg has it. */
const USAGE_ERROR = 2;

export const DEMO_HELP = `Usage:
  lab demo [--once] [--wireguard=userspace|kernel]

builds a mesh of two clouds, a home behind NAT and a laptop on this machine, in network namespaces,
with real kg processes, and shows who reaches whom (root)

It stays up until Ctrl-C and says what to try. Nothing is left behind, however it ends. Exit code 0
when all paths were ok, 130 when it was stopped before it was up.

Flags:
  --once
        ends when everything is shown, with the line "demo: N/N paths ok"
  --wireguard userspace|kernel
        who serves WireGuard: a wireguard-go on each host, or the kernel (default userspace)
`;

/** Runs the demo. Resolves to the exit status: 0 when all paths were ok (also when it was ended by a signal after that), 130 when it was stopped before, else 1. */
export async function demo(args: readonly string[]): Promise<number> {
  const flags = readFlags(args);
  if (typeof flags === "string") {
    console.error(`lab: cannot start the demo: ${flags} (lab demo --help tells the flags)`);
    return USAGE_ERROR;
  }
  if (flags.help) {
    process.stdout.write(DEMO_HELP);
    return 0;
  }
  const ended = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ended.abort());

  // The bundle stands in dist/, the other programs beside it.
  const program = process.argv[1] ?? "";
  const running = runDemo({
    once: flags.once,
    wireguard: flags.wireguard,
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
    console.error("lab: stopped; nothing is left");
    return INTERRUPTED;
  }
}

interface Flags {
  readonly once: boolean;
  readonly wireguard: "userspace" | "kernel";
  readonly help: boolean;
}

/** The flags, or what is wrong with them. */
function readFlags(args: readonly string[]): Flags | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        once: { type: "boolean", default: false },
        wireguard: { type: "string", default: "userspace" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const { wireguard, once = false, help = false } = values;
    if (wireguard === "userspace" || wireguard === "kernel") return { once, wireguard, help };
    return `WireGuard is served by userspace or kernel, not by ${wireguard}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
