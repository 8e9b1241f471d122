/** What is wrong in one plan and in another: which of it is new, and which is gone. */
import type { Problem, UnresolvedName } from "../../mesh/index.ts";

/** What two lists have in common and what not. `isNew` and `isGone` are answered for elements of the one and of the other list. */
export interface Compared<T> {
  readonly isNew: (element: T) => boolean;
  readonly isGone: (element: T) => boolean;
}

/** Compares elements by a text. */
export function compareBy<T>(
  now: readonly T[],
  other: readonly T[],
  text: (element: T) => string,
): Compared<T> {
  const nowTexts = new Set(now.map(text));
  const otherTexts = new Set(other.map(text));
  return {
    isNew: (element) => !otherTexts.has(text(element)),
    isGone: (element) => !nowTexts.has(text(element)),
  };
}

/** What makes a problem the same one. An age that moved on is no news. */
export function problemIdentity({ object, reason, message }: Problem): string {
  return [object.kind, object.name, reason, message.replaceAll(/\d+ s\b/g, "")].join("\0");
}

/** What makes an unresolved name the same one. */
export function nameIdentity({ name, owner, decidesLeaderOf }: UnresolvedName): string {
  return [name, owner.kind, owner.name, decidesLeaderOf ?? ""].join("\0");
}
