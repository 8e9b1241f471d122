/**
 * What this agent writes into its own Node: annotations when they differ, and a check-in 30 s after the last write (kilo.md §2.3, §2.4).
 * Writes run beside the passes, one at a time: an API server that does not answer delays no pass (B19).
 */
import { type AnnotationPatch, checkInPatch, type NodeObject } from "../mesh/index.ts";
import { createWarnOnce, type WarnOnce } from "../telemetry/index.ts";
import { OwnNode } from "./own-node.ts";
import type { AgentParts } from "./parts.ts";

/** Kilo's check-in period; a node counts as gone after twice that (kilo.md §2.4). */
export const CHECK_IN_MS = 30_000;

/** A write that takes longer is given up: the API server is away. */
const WRITE_TIMEOUT_MS = 10_000;

/** Ceiling of the pause after a write that failed, growing with each; full jitter below it. */
const RETRY_MS = 5_000;

/** Short against the 60 s after which others take us for dead, and long enough that an API server that comes back is not stormed. */
const RETRY_LONGEST_MS = 10_000;

export interface PublisherOptions {
  readonly parts: Pick<AgentParts, "patchOwnNode" | "metrics" | "log" | "version">;
  /** A write is due: a pass shall look what. */
  readonly onDue: () => void;
  /** A write came through. */
  readonly onPublished: () => void;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #ownNode = new OwnNode();
  readonly #told: WarnOnce;
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** A check-in is due: at the start, and each time the timer fires. Kept as a flag, since the clock may be set back. */
  #isDue = true;
  #resumed = false;
  /** Writes that failed since the last one that came through: while there are any, also a difference waits for the next try. */
  #failures = 0;
  /** A pass had something to say while a write was under way. */
  #skipped = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#told = createWarnOnce(options.parts.log);
  }

  /** The own Node with our own writes on top. @param heardAt when the API server was last heard, in Unix milliseconds */
  overlay(seen: NodeObject, heardAt: number): NodeObject {
    return this.#ownNode.overlay(seen, heardAt);
  }

  /** Begins to write what differs, or the check-in when it is due. While a write is under way, nothing: it asks for a pass at its end. */
  offer(patch: AnnotationPatch | undefined): void {
    if (this.#abort.signal.aborted) return;
    if (this.#writing !== undefined) {
      this.#skipped = true;
      return;
    }
    if (!this.#isDue && (patch === undefined || this.#failures > 0)) return;
    const kind = patch === undefined ? "checkin" : "publish";
    const now = Math.floor(Date.now() / 1000);
    const annotations = patch ?? checkInPatch({ now, version: this.#options.parts.version });
    this.#writing = this.#write(annotations, kind).finally(() => {
      this.#writing = undefined;
      if (this.#skipped) this.#options.onDue();
      this.#skipped = false;
    });
  }

  /** A check-in of an agent before this one counts: a restart writes nothing (Unix seconds; 0 for none). */
  resume(lastSeen: number): void {
    if (this.#resumed) return;
    this.#resumed = true;
    const pause = lastSeen * 1000 + CHECK_IN_MS - Date.now();
    if (pause > 0 && pause <= CHECK_IN_MS) this.#schedule(pause);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    await this.#writing;
  }

  async #write(annotations: AnnotationPatch, kind: "publish" | "checkin"): Promise<void> {
    const { parts, onPublished } = this.#options;
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(WRITE_TIMEOUT_MS)]);
    try {
      await parts.patchOwnNode(annotations, signal);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      parts.metrics.errors.add(1, { event: kind === "checkin" ? "checkin" : "local" });
      this.#told.raise({
        key: "write",
        message: "cannot write the own Node; the mesh stays as it is",
        context: { error },
      });
      this.#failures += 1;
      this.#schedule(Math.random() * Math.min(RETRY_LONGEST_MS, RETRY_MS * this.#failures));
      return;
    }
    this.#failures = 0;
    this.#told.clear("write");
    this.#ownNode.wrote(annotations);
    parts.metrics.writes.add(1, { kind });
    this.#schedule(CHECK_IN_MS);
    onPublished();
  }

  #schedule(pause: number): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isDue = true;
      this.#options.onDue();
    }, pause);
  }
}
