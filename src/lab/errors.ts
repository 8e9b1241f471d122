/** Errors of the lab. Every message says "cannot X: reason (value)"; `code` is stable. */

export type LabErrorCode = "scenario" | "command" | "namespace" | "process" | "cni" | "timeout" | "missing";

/** Base of all errors that the lab raises by itself. */
export class LabError extends Error {
  readonly code: LabErrorCode;

  constructor(code: LabErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A scenario that cannot be built: a name used twice, an address outside its LAN, and the like. */
export class ScenarioError extends LabError {
  constructor(message: string) {
    super("scenario", message);
  }
}

/** A command that ended with another status than 0. Keeps what it printed. */
export class CommandError extends LabError {
  readonly status: number;
  readonly output: string;

  constructor(what: string, status: number, output: string) {
    super("command", `cannot run ${what}: status ${status} (${output.trim() || "no output"})`);
    this.status = status;
    this.output = output;
  }
}
