/** What a verb needs of the world, so that tests can give it another one. */
import { open } from "node:fs/promises";
import { hostname } from "node:os";
import { fileReason } from "../kube/index.ts";
import { EXIT, InputError } from "./errors.ts";

export interface Io {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /**
   * The text of a file, or of standard input for `-`.
   * @throws InputError when it cannot be read, or holds more than `limit` bytes
   */
  readonly read: (path: string, limit: number) => Promise<string>;
  /** The system's host name. */
  readonly hostname: () => string;
}

/** The part of `process` that is used. */
export interface Streams {
  readonly stdin: AsyncIterable<Buffer>;
  readonly stdout: Output;
  readonly stderr: Output;
  exitCode?: number | string | null | undefined;
}

interface Output {
  write(text: string): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
}

/**
 * The Io of a program that runs in a terminal or container. When the output cannot be written (a full disk), standard error says so once,
 * and `exitCode` of the streams becomes 1; nothing is thrown, because an agent has more to do than to write its log.
 */
export function processIo(streams: Streams = process): Io {
  const { stdin, stdout, stderr } = streams;
  stdout.on("error", outputLoss(streams));
  // Nobody is left to tell.
  stderr.on("error", () => {});
  return {
    stdout: (text) => void stdout.write(text),
    stderr: (text) => void stderr.write(text),
    read: (path, limit) =>
      path === "-" ? readStream("standard input", stdin, limit) : readFile(path, limit),
    hostname,
  };
}

/** `kg plan … | head` closes the pipe early: the reader has what it wanted. */
function outputLoss(streams: Streams): (error: NodeJS.ErrnoException) => void {
  let isSaid = false;
  return (error) => {
    if (error.code === "EPIPE") return;
    streams.exitCode = EXIT.failed;
    if (!isSaid) streams.stderr.write(`kg: cannot write to standard output: ${fileReason(error)}\n`);
    isSaid = true;
  };
}

async function readFile(path: string, limit: number): Promise<string> {
  try {
    await using file = await open(path, "r");
    return await collect(path, file.createReadStream({ autoClose: false }), limit);
  } catch (cause) {
    throw readError(path, cause);
  }
}

async function readStream(name: string, chunks: AsyncIterable<Buffer>, limit: number): Promise<string> {
  try {
    return await collect(name, chunks, limit);
  } catch (cause) {
    throw readError(name, cause);
  }
}

function readError(name: string, cause: unknown): InputError {
  if (cause instanceof InputError) return cause;
  return new InputError(`cannot read ${name}: ${fileReason(cause)}`, { cause });
}

async function collect(name: string, chunks: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw new InputError(`cannot read ${name}: larger than ${limit} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString("utf8");
}
