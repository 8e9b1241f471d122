/** One copy of equal strings: five thousand nodes say `InternalIP` and `eu-west-1` five thousand times, and JSON.parse makes a new string each. */

/** Distinct strings that are remembered; beyond it everything is forgotten and begins anew, so memory stays bounded. */
const MOST_STRINGS = 4_096;

export type Intern = (text: string) => string;

/** Makes an interner. Use it for texts that repeat between objects, not for keys and addresses. */
export function createInterner(): Intern {
  const known = new Map<string, string>();
  return (text) => {
    const same = known.get(text);
    if (same !== undefined) return same;
    if (known.size >= MOST_STRINGS) known.clear();
    known.set(text, text);
    return text;
  };
}
