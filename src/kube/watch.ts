/** Reads the stream of a watch: one JSON event a line, bookmarks, ERROR events, and silence. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "./clock.ts";
import { ProtocolError } from "./errors.ts";
import { LineSplitter } from "./lines.ts";
import type { RawObject, WatchEvent } from "./objects.ts";
import { type Operation, operationText } from "./resources.ts";
import { statusErrorOfEvent } from "./status.ts";

/**
 * Silence after which a watch that has sent bookmarks is taken for dead. API servers send one about every minute; two and a half are
 * missing then. A server that sends none is not judged by this, only by the deadline.
 */
const SILENCE_MS = 150_000;

/** A watch that outlives its own `timeoutSeconds` by this is closed from here. */
const DEADLINE_SLACK_MS = 30_000;

export interface WatchStreamOptions {
  readonly operation: Operation;
  /** Where the credentials came from, for messages. */
  readonly source: string;
  /** What the server was asked to end the watch after. */
  readonly timeoutSeconds: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent: (event: WatchEvent<RawObject>) => void;
}

/**
 * Resolves when the server ends the stream in order. Rejects with StatusError for an ERROR event, with ProtocolError when the stream is
 * cut, silent or not what it should be, with the signal's reason, and with whatever `onEvent` throws. No event is handed over after that.
 */
export function readWatch(body: IncomingMessage, options: WatchStreamOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const what = operationText(options.operation);
    let bookmarked = false;
    let over = false;

    const finish = (error?: unknown) => {
      if (over) return;
      over = true;
      cancelSilence();
      cancelDeadline();
      body.destroy();
      if (error === undefined) resolve();
      else reject(options.signal?.aborted ? options.signal.reason : error);
    };
    const fail = (code: string, reason: string) =>
      finish(new ProtocolError(code, `cannot ${what}: ${reason}`));

    const listen = () => options.clock.after(SILENCE_MS, onSilence);
    const onSilence = () => {
      if (bookmarked) fail("Silent", `the server sent nothing for ${SILENCE_MS / 1_000} s`);
    };
    let cancelSilence = listen();
    const cancelDeadline = options.clock.after(options.timeoutSeconds * 1_000 + DEADLINE_SLACK_MS, () =>
      fail("Silent", `the server did not end the watch after ${options.timeoutSeconds} s`),
    );

    const splitter = new LineSplitter((line) => {
      if (over) return;
      const event = parseEvent(line, options);
      if (event === undefined) return;
      bookmarked ||= event.type === "BOOKMARK";
      options.onEvent(event);
    });

    body.on("data", (chunk: Buffer) => {
      if (over) return;
      cancelSilence();
      cancelSilence = listen();
      try {
        splitter.push(chunk);
      } catch (error) {
        finish(error);
      }
    });
    body.on("end", () => {
      if (splitter.unfinishedBytes > 0) fail("CutOff", "the stream ended inside an event");
      else finish();
    });
    body.on("error", () => fail("CutOff", "the connection was cut"));
    body.on("close", () => fail("CutOff", "the connection was closed"));
  });
}

/** One event; undefined for a type that does not exist yet. Throws for ERROR events and for what is no event. */
function parseEvent(line: Buffer, options: WatchStreamOptions): WatchEvent<RawObject> | undefined {
  const { type, object } = parseJson(line, options.operation);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      if (!isObject(object)) throw notAnEvent(options.operation);
      return { type, object };
    case "ERROR":
      throw statusErrorOfEvent(options.operation, object, options.source);
    default:
      return undefined;
  }
}

function parseJson(line: Buffer, operation: Operation): { type?: unknown; object?: unknown } {
  let event: unknown;
  try {
    event = JSON.parse(line.toString("utf8"));
  } catch {
    throw notAnEvent(operation);
  }
  if (typeof event !== "object" || event === null) throw notAnEvent(operation);
  return event;
}

function isObject(value: unknown): value is RawObject {
  if (typeof value !== "object" || value === null) return false;
  const metadata = (value as { metadata?: unknown }).metadata;
  return typeof metadata === "object" && metadata !== null;
}

/** The line itself is not quoted: it may be a Secret. */
function notAnEvent(operation: Operation): ProtocolError {
  return new ProtocolError(
    "NotJson",
    `cannot ${operationText(operation)}: the stream holds what is no event`,
  );
}
