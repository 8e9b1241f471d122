/**
 * The own Node object as this agent must see it: what the watch says, with our own writes on top until the watch has brought them back.
 * Without this, each pass between a write and its echo would write again.
 */
import { type NodeObject, withAnnotations } from "../mesh/index.ts";

/** A watch that hears the server this long after a write, and did not bring it, is right: somebody else's write overtook ours. */
const ECHO_MS = 5_000;

export class OwnNode {
  readonly #sent = new Map<string, { readonly value: string; readonly until: number }>();

  /** Annotations were written just now. */
  wrote(annotations: Readonly<Record<string, string>>): void {
    const until = Date.now() + ECHO_MS;
    for (const [name, value] of Object.entries(annotations)) this.#sent.set(name, { value, until });
  }

  /** The object with our writes on top. Forgets those that the watch has brought back. @param heardAt of the watch, in Unix milliseconds */
  overlay(seen: NodeObject, heardAt: number): NodeObject {
    const annotations: Record<string, string> = { ...seen.metadata.annotations };
    for (const [name, { value, until }] of this.#sent) {
      if (annotations[name] === value || heardAt > until) this.#sent.delete(name);
      else annotations[name] = value;
    }
    return withAnnotations(seen, annotations);
  }
}
