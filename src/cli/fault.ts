/** Faults of the program itself, as text: for what nobody caught. */

/** Causes are followed so far; a chain that is longer turns in a circle. */
const MOST_CAUSES = 8;

/**
 * Message and stack of an error and of its causes, and nothing else: no source line (it would be a whole minified bundle) and no other
 * fields (one may hold a secret).
 */
export function faultText(error: unknown): string {
  const parts: string[] = [];
  let current = error;
  while (current instanceof Error && parts.length < MOST_CAUSES) {
    parts.push(current.stack ?? `${current.name}: ${current.message}`);
    current = current.cause;
  }
  if (parts.length === 0) parts.push(String(error));
  return parts.join("\ncaused by ");
}
