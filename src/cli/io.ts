/** What a verb needs of the world, so that tests can give it another one. */
import { open } from "node:fs/promises";
import { hostname } from "node:os";
import { InputError } from "./errors.ts";

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

/** The Io of a program that runs in a terminal or container. */
export function processIo(): Io {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    read: (path, limit) =>
      path === "-" ? collect("standard input", process.stdin, limit) : readFile(path, limit),
    hostname,
  };
}

/** `kg plan … | head` closes the pipe early: the reader has what it wanted. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

async function readFile(path: string, limit: number): Promise<string> {
  try {
    await using file = await open(path, "r");
    return await collect(path, file.createReadStream({ autoClose: false }), limit);
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw new InputError(`cannot read ${path}: ${reason(cause)}`, { cause });
  }
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

function reason(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "ENOENT") return "no such file";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a folder";
  return cause instanceof Error ? cause.message : String(cause);
}
