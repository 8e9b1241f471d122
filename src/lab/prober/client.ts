/** The lab's side of a prober. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { BASE_ENVIRONMENT } from "../command.ts";
import { LabError } from "../errors.ts";
import type { Answer, Hello, HttpResult, PingsResult, Request, TransferResult } from "./protocol.ts";

export interface ProberOptions {
  readonly name: string;
  /** Process id of the host's PID 1. */
  readonly hostPid: number;
  /** The built `lab` program, whose hidden verb `prober` this is. */
  readonly program: string;
  /** `own`: a network namespace of its own, as a pod has; it lives as long as the prober. */
  readonly network: "own" | "host";
}

/** A question, before it gets its number. */
type Question = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

/** Milliseconds beyond the prober's own timeouts after which an answer is given up. */
const GRACE = 2000;

/** A running prober. It ends with its host, or with the lab. */
export class Prober {
  readonly name: string;
  readonly hello: Hello;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #nextId = 1;

  private constructor(name: string, hello: Hello, child: ChildProcessByStdio<Writable, Readable, Readable>) {
    this.name = name;
    this.hello = hello;
    this.#child = child;
  }

  /** Starts a prober and waits until it listens. */
  static async start(options: ProberOptions): Promise<Prober> {
    const node = [
      process.execPath,
      "--max-semi-space-size=1",
      "--optimize-for-size",
      options.program,
      "prober",
    ];
    const own = ["unshare", "--net", "--", "sh", "-c", 'ip link set lo up; exec "$@"', "lab-pod", ...node];
    const enter = ["-t", String(options.hostPid), "-p", "-n", "-u", "-i", "--"];
    const child = spawn("nsenter", [...enter, ...(options.network === "own" ? own : node)], {
      stdio: ["pipe", "pipe", "pipe"],
      env: BASE_ENVIRONMENT,
      detached: true,
    });
    child.stdin.on("error", () => undefined);
    let complaint = "";
    child.on("error", (error) => {
      complaint += error.message;
    });
    child.stderr.on("data", (data: Buffer) => {
      complaint += data.toString();
    });
    const prober = await new Promise<Prober | undefined>((resolve) => {
      let started: Prober | undefined;
      const lines = createInterface({ input: child.stdout });
      lines.on("line", (line) => {
        if (started !== undefined) return started.#receive(JSON.parse(line) as Answer);
        started = new Prober(options.name, JSON.parse(line) as Hello, child);
        resolve(started);
      });
      lines.on("close", () => resolve(undefined));
    });
    if (prober === undefined) {
      throw new LabError(
        "process",
        `cannot start prober of ${options.name}: ${complaint.trim() || "it ended"}`,
      );
    }
    return prober;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Pings an address, plainly and at full size. @param timeout milliseconds for each of the two */
  async pings(to: string, mtu: number, timeout: number): Promise<PingsResult> {
    const answer = await this.#ask({ kind: "pings", to, mtu, timeout }, 2 * timeout + GRACE);
    return answer?.kind === "pings"
      ? answer
      : { ok: false, reason: `prober of ${this.name} does not answer` };
  }

  /** Transfers a megabyte to the prober at an address. @param timeout milliseconds */
  async transfer(to: string, timeout: number): Promise<TransferResult> {
    const answer = await this.#ask({ kind: "transfer", to, timeout }, timeout + GRACE);
    return answer?.kind === "transfer"
      ? answer
      : { ok: false, reason: `prober of ${this.name} does not answer` };
  }

  /** Fetches a URL from where the prober is. */
  async http(url: string, timeout = 2000): Promise<HttpResult> {
    const answer = await this.#ask({ kind: "http", url, timeout }, timeout + GRACE);
    return answer?.kind === "http" ? answer : { body: `prober of ${this.name} does not answer` };
  }

  /** Ends the prober, and with it its own network namespace. Idempotent. */
  async stop(): Promise<void> {
    if (!this.running) return;
    const ended = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    process.kill(this.hello.outer, "SIGKILL");
    await ended;
  }

  #ask(question: Question, patience: number): Promise<Answer | undefined> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const finish = (answer: Answer | undefined): void => {
        clearTimeout(timer);
        this.#child.off("exit", onExit);
        this.#waiting.delete(id);
        resolve(answer);
      };
      const onExit = (): void => finish(undefined);
      const timer = setTimeout(() => finish(undefined), patience);
      this.#child.once("exit", onExit);
      this.#waiting.set(id, finish);
      if (this.running) this.#child.stdin.write(`${JSON.stringify({ id, ...question })}\n`);
      else finish(undefined);
    });
  }

  #receive(answer: Answer): void {
    this.#waiting.get(answer.id)?.(answer);
  }
}
