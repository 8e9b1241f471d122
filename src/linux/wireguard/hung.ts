/**
 * A wireguard-go that accepts connections, never answers and does nothing else either: nothing about it can be read or changed any more,
 * so it is replaced. One that computes is left: it is busy or carries packets, and to replace it costs every session.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DeviceError } from "./errors.ts";
import { activityOf, holdsSocket, type ProcessActivity, processOfDevice } from "./process.ts";

/** Each takes 5 s. With three there are two spans between them in which the process could have done something. */
const MOST_SILENT_READS = 3;

/** A process that is killed ends within milliseconds, unless the kernel itself holds it. */
const END_TIMEOUT_MS = 1_000;

const POLL_MS = 10;

export interface HungOptions {
  /** Name of the link. */
  readonly name: string;
  /** Path of its socket. */
  readonly socket: string;
  /** Told when a process was ended. */
  readonly onWarning: (message: string) => void;
}

/** The process after a read without an answer. */
interface Silence {
  readonly pid: number;
  readonly activity: ProcessActivity;
}

/** Counts reads without an answer in which the process did nothing, one after the other. */
export class HungWatch {
  readonly #options: HungOptions;
  #silent = 0;
  #last: Silence | undefined;

  constructor(options: HungOptions) {
    this.#options = options;
  }

  /**
   * Reads. After three reads in a row that ended with `DEVICE_TIMEOUT`, between which the process behind the socket used no processor
   * time, it is ended and read once more: as nobody serves the device then, it counts as missing and is made again. A process that is
   * not surely the one is left alone, and so is one that only waits for its turn on the processor.
   */
  async read<T>(read: () => Promise<T>): Promise<T> {
    try {
      const seen = await read();
      this.#forget();
      return seen;
    } catch (error) {
      const silence = isTimeout(error) ? await this.#look() : undefined;
      this.#count(silence);
      if (silence === undefined || this.#silent < MOST_SILENT_READS) throw error;
      this.#forget();
      if (!(await this.#end(silence.pid))) throw error;
      return await read();
    }
  }

  /** Undefined when no process is surely the one. */
  async #look(): Promise<Silence | undefined> {
    const { name, socket } = this.#options;
    const pid = await processOfDevice(name);
    if (pid === undefined || !(await holdsSocket(pid, socket))) return undefined;
    const activity = await activityOf(pid);
    return activity === undefined ? undefined : { pid, activity };
  }

  /** A sign of life starts the count anew. */
  #count(silence: Silence | undefined): void {
    const goesOn = silence !== undefined && this.#last !== undefined && didNothing(this.#last, silence);
    this.#silent = silence === undefined ? 0 : goesOn ? this.#silent + 1 : 1;
    this.#last = silence;
  }

  #forget(): void {
    this.#silent = 0;
    this.#last = undefined;
  }

  /** Resolves to whether the process is gone. */
  async #end(pid: number): Promise<boolean> {
    const { name, onWarning } = this.#options;
    process.kill(pid, "SIGKILL");
    const deadline = performance.now() + END_TIMEOUT_MS;
    while (existsSync(`/proc/${pid}`)) {
      if (performance.now() > deadline) return false;
      await sleep(POLL_MS);
    }
    onWarning(
      `wireguard-go of ${name} (process ${pid}) did not answer ${MOST_SILENT_READS} times in a row and did nothing else: it was ended and is started again`,
    );
    return true;
  }
}

/** Of proc(5): stopped, traced, a zombie. None of them can do anything. One held by the kernel (D) may, a moment later: its ticks count. */
const STUCK = new Set(["T", "t", "Z"]);

/** Runnable: without processor time it only waits for its turn, on a machine that is too busy. */
const RUNNABLE = "R";

function didNothing(before: Silence, now: Silence): boolean {
  if (before.pid !== now.pid) return false;
  if (STUCK.has(now.activity.state)) return true;
  return now.activity.state !== RUNNABLE && now.activity.ticks === before.activity.ticks;
}

function isTimeout(error: unknown): boolean {
  return error instanceof DeviceError && error.code === "DEVICE_TIMEOUT";
}
