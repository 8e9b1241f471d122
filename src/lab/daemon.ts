/** Long-running programs inside a host: output in a log file, ended and signalled by their own process id. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import { BASE_ENVIRONMENT, type Site } from "./command.ts";
import { LabError } from "./errors.ts";

export interface DaemonOptions {
  /** What it is called in messages, e.g. `kg on north-1`. */
  readonly name: string;
  readonly site: Site;
  readonly command: readonly string[];
  /** Gets standard output and standard error, appended. */
  readonly log: string;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/**
 * Enters the process namespace first and the others after it: in between, /proc is still the lab's, so the shell reads the process id that
 * the lab can signal, and hands it over on file 3.
 */
const TELL_PID = 'read -r pid _ </proc/self/stat; echo "$pid" >&3; exec 3>&-; exec "$@"';

/** A program that was started on a host. It ends with its host at the latest. */
export class Daemon {
  readonly name: string;
  /** Process id as the lab sees it. */
  readonly pid: number;
  readonly log: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Resolves when it has ended, with its status (128 + n after signal n). */
  readonly ended: Promise<number>;
  readonly #child: ChildProcess;

  private constructor(options: DaemonOptions, child: ChildProcess, pid: number, ended: Promise<number>) {
    this.name = options.name;
    this.log = options.log;
    this.pid = pid;
    this.startedAt = Date.now();
    this.#child = child;
    this.ended = ended;
  }

  /** Starts a program and waits until it has a process id. It may end at once; `ended` tells. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { site } = options;
    const log = openSync(options.log, "a", 0o600);
    const inner = ["nsenter", "-t", String(site.pid), "-m", "-u", "-i", "-n", "--", ...options.command];
    const outer = [
      "nsenter",
      "-t",
      String(site.pid),
      "-p",
      "--",
      "sh",
      "-c",
      TELL_PID,
      "lab-daemon",
      ...inner,
    ];
    const child = spawn("setpriv", ["--pdeathsig", "KILL", ...outer], {
      stdio: ["ignore", log, log, "pipe"],
      env: { ...BASE_ENVIRONMENT, ...options.environment },
      detached: true,
    });
    closeSync(log);
    site.guests?.add(child);
    child.on("exit", () => site.guests?.delete(child));
    const ended = new Promise<number>((resolve) => {
      child.on("exit", (code, signal) =>
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
      );
      child.on("error", () => resolve(127));
    });
    const pid = await readPid(child);
    if (pid === undefined)
      throw new LabError("process", `cannot start ${options.name}: ${tail(options.log)}`);
    return new Daemon(options, child, pid, ended);
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a signal to the program; nothing when it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (!this.running) return;
    process.kill(this.pid, signal);
    // nsenter stops with its program, but does not go on with it.
    if (signal === "SIGCONT" || signal === "SIGKILL") this.#child.kill("SIGCONT");
  }

  /** Asks the program to end and waits; kills it when it takes longer than `timeout` milliseconds. Idempotent. @default 5000 */
  async stop(timeout = 5000): Promise<void> {
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), timeout);
    await this.ended;
    clearTimeout(timer);
  }

  /** Kills the program, as a crash would, and waits until it is gone. Idempotent. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }

  /** The last lines of its log. @default 15 lines */
  tail(lines = 15): string {
    return tail(this.log, lines);
  }
}

/** The line on file 3; the pipe itself stays open as long as the outer nsenter runs. */
async function readPid(child: ChildProcess): Promise<number | undefined> {
  const pipe = child.stdio[3];
  if (!(pipe instanceof Socket)) return undefined;
  const text = await new Promise<string>((resolve) => {
    pipe.once("data", (data: Buffer) => resolve(data.toString()));
    pipe.once("close", () => resolve(""));
  });
  pipe.destroy();
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
}

function tail(path: string, lines = 15): string {
  try {
    return readFileSync(path, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "no log";
  }
}
