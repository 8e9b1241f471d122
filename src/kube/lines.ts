/** Splits a byte stream into lines without ever joining strings: a UTF-8 character may be cut anywhere. */
import { ProtocolError } from "./errors.ts";

/**
 * Longest line of a watch. etcd takes objects up to 1.5 MiB; as JSON with managed fields that may double or triple.
 */
export const LONGEST_LINE_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

/** Hands over each line without its end. Empty lines are left out. */
export class LineSplitter {
  readonly #onLine: (line: Buffer) => void;
  readonly #longest: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** @param longest bytes of a line; more is a ProtocolError. @default LONGEST_LINE_BYTES */
  constructor(onLine: (line: Buffer) => void, longest: number = LONGEST_LINE_BYTES) {
    this.#onLine = onLine;
    this.#longest = longest;
  }

  /** Bytes of a line that has begun and not ended. */
  get unfinishedBytes(): number {
    return this.#bytes;
  }

  /** Takes the next bytes; calls back for every line that ends in them. Throws ProtocolError when a line is too long. */
  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  #finish(rest: Buffer): void {
    this.#keep(rest);
    const line = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    if (line !== undefined && line.length > 0) this.#onLine(line);
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#bytes += piece.length;
    if (this.#bytes > this.#longest) {
      throw new ProtocolError(
        "TooLarge",
        `cannot read a line of the stream: it is longer than ${this.#longest} bytes`,
      );
    }
    this.#pieces.push(piece);
  }
}
