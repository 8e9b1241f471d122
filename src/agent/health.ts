/** Whether the agent is converged, and if not, why: the readiness of `/health`. */

/** Parts that must be right for the node to serve the mesh. The API server is none of them: its absence changes nothing (promise 8). */
export type HealthPart = "sync" | "node" | "apply" | "device";

/** Collects reasons why the agent is not converged. A part without reason is fine. */
export class Health {
  readonly #reasons = new Map<HealthPart, string>([
    ["sync", "waiting for the first complete list of nodes and peers"],
  ]);

  /** The part is right. */
  ok(part: HealthPart): void {
    this.#reasons.delete(part);
  }

  /** The part is not right, for this reason. */
  fail(part: HealthPart, reason: string): void {
    this.#reasons.set(part, reason);
  }

  /** `part: reason` for every part that is not right; empty when converged. */
  reasons(): string[] {
    return [...this.#reasons].map(([part, reason]) => `${part}: ${reason}`).sort();
  }
}
