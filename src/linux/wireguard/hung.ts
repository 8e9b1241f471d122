/** A wireguard-go that accepts connections and never answers: nothing about it can be read or changed any more, so it is replaced. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DeviceError } from "./errors.ts";
import { holdsSocket, processOfDevice } from "./process.ts";

/** Each takes 5 s: a machine that is merely busy answers within that time, and to replace the process costs its sessions. */
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

/** Counts reads without an answer, one after the other. */
export class HungWatch {
  readonly #options: HungOptions;
  #silent = 0;

  constructor(options: HungOptions) {
    this.#options = options;
  }

  /**
   * Reads. After three reads in a row that ended with `DEVICE_TIMEOUT` the process behind the socket is ended and read once more: as
   * nobody serves the device then, it counts as missing and is made again. A process that is not surely the one is left alone.
   */
  async read<T>(read: () => Promise<T>): Promise<T> {
    try {
      const seen = await read();
      this.#silent = 0;
      return seen;
    } catch (error) {
      this.#silent = isTimeout(error) ? this.#silent + 1 : 0;
      if (this.#silent < MOST_SILENT_READS) throw error;
      this.#silent = 0;
      if (!(await this.#endProcess())) throw error;
      return await read();
    }
  }

  /** Resolves to whether there was one and it is gone. */
  async #endProcess(): Promise<boolean> {
    const { name, socket, onWarning } = this.#options;
    const pid = await processOfDevice(name);
    if (pid === undefined || !(await holdsSocket(pid, socket))) return false;
    process.kill(pid, "SIGKILL");
    const deadline = performance.now() + END_TIMEOUT_MS;
    while (existsSync(`/proc/${pid}`)) {
      if (performance.now() > deadline) return false;
      await sleep(POLL_MS);
    }
    onWarning(
      `wireguard-go of ${name} (process ${pid}) did not answer ${MOST_SILENT_READS} times in a row: it was ended and is started again`,
    );
    return true;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DeviceError && error.code === "DEVICE_TIMEOUT";
}
