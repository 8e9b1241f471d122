/**
 * Which peers to call anew. WireGuard repeats a lost first handshake after 5 s; when a node joins, its first call often reaches others
 * before they know it, and behind NAT nobody can call back. So those who never answered are called again each second for a while.
 */
import type { PublicKey } from "../wireguard/index.ts";

/** Calls beyond WireGuard's own, per peer: what joins needs about a second; after these, its own 5 s rhythm goes on. */
const EXTRA_CALLS = 4;

export class Calling {
  readonly #calls = new Map<PublicKey, number>();

  /** Those of the silent peers to call now; ask once a second. Peers that are not silent any more are forgotten. */
  due(silent: Iterable<PublicKey>): PublicKey[] {
    const present = new Set(silent);
    for (const key of this.#calls.keys()) if (!present.has(key)) this.#calls.delete(key);
    const due: PublicKey[] = [];
    for (const key of present) {
      const calls = this.#calls.get(key) ?? 0;
      if (calls >= EXTRA_CALLS) continue;
      this.#calls.set(key, calls + 1);
      due.push(key);
    }
    return due;
  }

  /** Starts anew for everybody: the device was made again, or our own Node was published just now. */
  reset(): void {
    this.#calls.clear();
  }
}
