/** A stream of pings through a path, 100 a second, to see what a fault costs: how many were lost, and the longest silence. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "./command.ts";
import { Daemon } from "./daemon.ts";
import { requireProgram } from "./preflight.ts";

/** Milliseconds between pings. */
const INTERVAL = 10;

/** Pings of the last moments may still be under way when the stream is stopped; they are not judged. Far above any round trip here. */
const UNDER_WAY = 300;

export interface StreamResult {
  /** Pings that were judged. */
  readonly sent: number;
  readonly received: number;
  readonly lost: number;
  /** Milliseconds between two answers, at the most. */
  readonly longestGap: number;
}

/** A running stream. It runs among the processes of its host, and ends with it. */
export class PingStream {
  readonly #fping: Daemon;

  private constructor(fping: Daemon) {
    this.#fping = fping;
  }

  /**
   * Starts pinging from a pod's or host's network, and waits for the first answer (2 s at the most).
   * @param log a file of its own
   */
  static async start(from: Site, to: string, log: string): Promise<PingStream> {
    requireProgram("fping", "measure what a fault costs");
    const command = ["fping", "-l", "-D", "-p", String(INTERVAL), "-t", "1000", to];
    const fping = await Daemon.start({ name: `fping from ${from.name}`, site: from, command, log });
    for (let tries = 0; tries < 200 && !/ bytes, /.test(readFileSync(log, "utf8")); tries += 1)
      await sleep(10);
    return new PingStream(fping);
  }

  /** Ends the stream and judges it. */
  async stop(): Promise<StreamResult> {
    await sleep(UNDER_WAY);
    this.#fping.signal("SIGINT");
    await this.#fping.ended;
    return readStream(readFileSync(this.#fping.log, "utf8"), UNDER_WAY / INTERVAL);
  }
}

/**
 * Reads what `fping -l -D` printed, without the last `ignored` pings.
 * Pings before the first answer count as lost, as all others without one.
 */
export function readStream(output: string, ignored: number): StreamResult {
  const transmitted = Number(/xmt\/rcv\/%loss = (\d+)\//.exec(output)?.[1] ?? 0);
  const judged = Math.max(transmitted - ignored, 0);
  const answers = [...output.matchAll(/^\[(\d+\.\d+)\] \S+ +: \[(\d+)\], \d+ bytes, /gm)]
    .map((match) => ({ at: Number(match[1]) * 1000, sequence: Number(match[2]) }))
    .sort((a, b) => a.at - b.at);
  const received = new Set(answers.map((answer) => answer.sequence).filter((sequence) => sequence < judged))
    .size;
  const gaps = answers.slice(1).map((answer, index) => answer.at - (answers[index]?.at ?? answer.at));
  return {
    sent: judged,
    received,
    lost: judged - received,
    longestGap: Math.round(gaps.reduce((most, gap) => Math.max(most, gap), 0)),
  };
}
