/** Reads the body of an answer as a whole, bounded in size and time. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "./clock.ts";
import { ProtocolError } from "./errors.ts";

/** A body that stands still for this long is given up: the connection is dead, or the server hangs. */
const STANDSTILL_MS = 30_000;

export interface ReadBodyOptions {
  /** For messages: `list nodes`. */
  readonly what: string;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

/** The whole body. Rejects with ProtocolError when it is too large, cut off or stands still, and with the signal's reason. */
export function readBody(body: IncomingMessage, options: ReadBodyOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;

    const fail = (code: string, reason: string) => {
      cancel();
      body.removeAllListeners("data");
      body.destroy();
      if (options.signal?.aborted) reject(options.signal.reason);
      else reject(new ProtocolError(code, `cannot ${options.what}: ${reason}`));
    };
    const wait = () =>
      options.clock.after(STANDSTILL_MS, () => fail("Silent", `the answer stopped after ${bytes} bytes`));
    let cancel = wait();

    body.on("data", (chunk: Buffer) => {
      cancel();
      cancel = wait();
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > options.maxBytes) fail("TooLarge", `the answer is larger than ${options.maxBytes} bytes`);
    });
    body.on("end", () => {
      cancel();
      resolve(Buffer.concat(chunks, bytes));
    });
    body.on("error", () => fail("CutOff", `the connection was cut after ${bytes} bytes`));
  });
}
