/** The program as it is built, run as people run it. */
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** What is for a person: standard error without the log's lines. */
  readonly told: readonly string[];
}

export const KG = join(process.cwd(), "dist/kg.cjs");

/** Builds `dist/`. */
export function buildPrograms(): void {
  execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "ignore" });
}

export interface RunOptions {
  /** A command that it is started by. */
  readonly through?: readonly string[];
  /** Another user than root. */
  readonly uid?: number | undefined;
  /** The bundle, where others than root can read it. @default KG */
  readonly program?: string;
}

/** Runs `kg` to its end. */
export function runKg(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { through = [], uid, program = KG } = options;
  const [command = "", ...words] = [...through, process.execPath, program, ...args];
  const kg = spawn(command, words, {
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stdout = "";
  let stderr = "";
  kg.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  kg.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    kg.once("error", reject);
    kg.once("close", (exitCode) => {
      const told = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
      resolve({ exitCode, stdout, told });
    });
  });
}
