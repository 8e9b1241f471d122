/** Starts `nft` (and its like): text in, text out, bounded in time and size. */
import { spawn } from "node:child_process";
import { FirewallError } from "./errors.ts";

/** A table of 10,000 elements takes under 1 s (libraries.md §2.4); another program may hold nftables' lock for a while. */
const TIMEOUT_MS = 30_000;

/** Listings of hosts with ten thousands of foreign rules are about 10 MB. */
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** Enough for nft's first messages; a refused file of 10,000 lines prints one for each. */
const LARGEST_COMPLAINT = 8 * 1024;

export interface Outcome {
  readonly status: number;
  readonly output: string;
  /** What it printed to standard error, cut off. */
  readonly complaint: string;
}

/** Runs a program to its end. Throws `FirewallError` when it cannot be started or does not end in time, and the signal's reason. */
export function runProgram(
  program: string,
  words: readonly string[],
  input: string,
  signal?: AbortSignal,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    let size = 0;
    let complaint = "";
    let failure: unknown;

    function stop(reason: unknown): void {
      failure ??= reason;
      child.kill("SIGKILL");
    }
    const timer = setTimeout(() => stop(timeout(program)), TIMEOUT_MS);
    const onAbort = (): void => stop(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });

    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > LARGEST_OUTPUT)
        stop(new FirewallError("FIREWALL_LISTING", `cannot read the output of ${program}: it is too long`));
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (complaint.length < LARGEST_COMPLAINT) complaint += chunk.toString();
    });
    child.on("error", (cause) => {
      failure ??= new FirewallError("FIREWALL_REFUSED", `cannot start ${program}: ${cause.message}`, cause);
    });
    child.on("close", (status) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (failure !== undefined) reject(failure);
      else resolve({ status: status ?? -1, output: Buffer.concat(chunks).toString(), complaint });
    });
    // It may end before it has read all: its complaint says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

/** The first line of a complaint that says something. */
export function firstLine(complaint: string): string {
  return (
    complaint
      .split("\n")
      .map((line) => line.trim())
      .find((line) => line !== "") ?? "no reason given"
  );
}

function timeout(program: string): FirewallError {
  return new FirewallError(
    "FIREWALL_TIMEOUT",
    `cannot run ${program}: it did not end in ${TIMEOUT_MS / 1000} s`,
  );
}
