/** Short commands: run in a namespace, read to the end, judged by their status. */
import { type ChildProcess, spawn } from "node:child_process";
import { CommandError } from "./errors.ts";

/** Where a command runs: the namespaces of a process. `network` alone keeps the lab's own files and processes. */
export interface Site {
  readonly name: string;
  /** Process id as the lab sees it. */
  readonly pid: number;
  /** @default "whole" */
  readonly enter?: "whole" | "network" | undefined;
  /** Where wrappers of long-running programs are noted: see `Namespace.guests`. */
  readonly guests?: Set<ChildProcess> | undefined;
}

export interface CommandOptions {
  /** Text for standard input. @default none */
  readonly input?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CommandResult {
  /** Exit status; 128 + n after signal n. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Environment of everything that runs in a lab: the machine's search path and nothing else that could change how programs behave. */
export const BASE_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: `${process.env.PATH ?? ""}:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin`,
  LC_ALL: "C.UTF-8",
};

/** The command line that enters a site. */
export function enterCommand(site: Site): string[] {
  const flags = site.enter === "network" ? ["-n"] : ["-m", "-u", "-i", "-n", "-p"];
  return ["nsenter", "-t", String(site.pid), ...flags, "--"];
}

/** Runs a command to its end, whatever its status. */
export async function execute(
  site: Site,
  command: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return executeHere([...enterCommand(site), ...command], options);
}

/** Runs a command in the lab's own namespaces, whatever its status. */
export async function executeHere(
  command: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const [program = "", ...rest] = command;
  const child = spawn(program, rest, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...BASE_ENVIRONMENT, ...options.environment },
    detached: true,
    signal: options.signal,
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (data: Buffer) => stdout.push(data));
  child.stderr.on("data", (data: Buffer) => stderr.push(data));
  // A command may end without having read its input; its status says what is wrong then.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");

  const status = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 137));
  });
  return {
    status,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
  };
}

/** Runs a command and gives what it printed. @throws CommandError when its status is not 0 */
export async function run(
  site: Site,
  command: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await execute(site, command, options);
  if (result.status !== 0) {
    const what = `"${command.join(" ").slice(0, 200)}" on ${site.name}`;
    throw new CommandError(what, result.status, result.stderr.trim() || result.stdout);
  }
  return result.stdout;
}

/** Runs lines of `ip -batch` in a site's network. @throws CommandError naming the line */
export async function runIp(site: Site, lines: readonly string[]): Promise<void> {
  await runIpBatch(enterCommand({ ...site, enter: "network" }), site.name, lines);
}

/**
 * Runs lines of `ip -batch` in an empty network of their own. Links are made between other namespaces from there: many kernels refuse
 * a name that a link in the caller's own network has.
 */
export async function runIpApart(lines: readonly string[]): Promise<void> {
  await runIpBatch(["unshare", "--net", "--"], "the lab", lines);
}

async function runIpBatch(enter: readonly string[], where: string, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const result = await executeHere([...enter, "ip", "-batch", "-"], { input: `${lines.join("\n")}\n` });
  if (result.status === 0) return;
  const number = Number(/-:(\d+)/.exec(result.stderr)?.[1] ?? 1);
  throw new CommandError(`"ip ${lines[number - 1] ?? ""}" on ${where}`, result.status, result.stderr);
}
