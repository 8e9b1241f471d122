/** The lab's folder: logs, kubeconfigs, hosts' disks. It goes with the lab, also when the lab is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LabError } from "./errors.ts";

const PREFIX = "kilomesh-lab.";

/**
 * Waits for the end of the lab (its standard input ends then, whatever the reason), lets what still writes end, and removes the folder.
 * Half a second: a killed namespace is empty within some 10 ms.
 */
const SWEEP = 'read -r _; sleep 0.5; rm -rf -- "$0"';

/** A folder below the system's temporary folder, readable for its owner only. */
export class StateFolder {
  readonly path: string;
  readonly #sweeper: ChildProcess;
  #removed = false;

  private constructor(path: string, sweeper: ChildProcess) {
    this.path = path;
    this.#sweeper = sweeper;
  }

  /** Makes a folder, and removes those of labs that are dead. */
  static create(): StateFolder {
    removeStaleFolders();
    const path = join(tmpdir(), `${PREFIX}${process.pid}.${startTime(process.pid)}`);
    let free = path;
    for (let number = 2; !makeFolder(free); number += 1) free = `${path}.${number}`;
    const sweeper = spawn("sh", ["-c", SWEEP, free], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    sweeper.unref();
    return new StateFolder(free, sweeper);
  }

  /** Path of a folder inside, made if need be. @throws LabError `process` when the lab has ended: nothing is made again then */
  folder(...parts: readonly string[]): string {
    this.#checkThere();
    const path = join(this.path, ...parts);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** Writes a file inside and gives its path. An existing file keeps its inode, so that bind mounts of it see the new text. */
  write(name: string, text: string): string {
    this.#checkThere();
    const path = join(this.path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Removes the folder. Idempotent. */
  remove(): void {
    this.#removed = true;
    this.#sweeper.kill("SIGKILL");
    rmSync(this.path, { recursive: true, force: true });
  }

  #checkThere(): void {
    if (this.#removed) throw new LabError("process", `cannot write to ${this.path}: the lab has ended`);
  }
}

function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function removeStaleFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^kilomesh-lab\.(\d+)\.(\d+)/.exec(name);
    if (owner === null || startTime(Number(owner[1])) === owner[2]) continue;
    rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

/** Start time of a process in clock ticks, which tells it from a later one with the same number; empty when there is none. */
function startTime(pid: number): string {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "";
    return afterName.split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
