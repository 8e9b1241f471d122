/** Writes whole lines to a file descriptor, at once and without a queue: what was logged before a crash is there. */
import { writeSync } from "node:fs";

/** Writes some bytes from an offset on and tells how many it took, as `fs.writeSync` does. */
export type WriteBytes = (bytes: Uint8Array, offset: number) => number;

/**
 * How often a line is offered to an output that is full. A reader that is only slow takes it within these; one that hangs must not
 * stop the agent, so the line is then dropped.
 */
const ATTEMPTS = 10;

/** Writes a line to standard output. Never throws; see `createLineWriter`. */
export const writeToStdout = createLineWriter((bytes, offset) => writeSync(1, bytes, offset));

/**
 * Makes a function that writes a line (with its line break). Never throws: a line that an output does not take, because it is full or gone,
 * is dropped, and the next one that is taken is preceded by the number of those lost. A line cut short is ended first.
 */
export function createLineWriter(write: WriteBytes): (line: string) => void {
  let lost = 0;
  let cut = false;
  return (line) => {
    const text = (cut ? "\n" : "") + (lost > 0 ? lossNote(lost) : "") + line;
    const bytes = new TextEncoder().encode(text);
    const written = writeAll(bytes, write);
    if (written === bytes.length) {
      lost = 0;
      cut = false;
      return;
    }
    lost += 1;
    if (written > 0) cut = bytes[written - 1] !== LINE_BREAK;
  };
}

const LINE_BREAK = 10;

/** How many bytes were taken. */
function writeAll(bytes: Uint8Array, write: WriteBytes): number {
  let written = 0;
  for (let attempt = 0; written < bytes.length && attempt < ATTEMPTS; attempt++) {
    try {
      const taken = write(bytes, written);
      written += taken;
      if (taken > 0) attempt = -1;
    } catch (error) {
      if (!isFull(error)) return written;
    }
  }
  return written;
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}

function lossNote(lines: number): string {
  return `${JSON.stringify({ ts: new Date().toISOString(), level: "warn", component: "log", msg: "log lines were lost", lines })}\n`;
}
