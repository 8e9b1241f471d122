/** Equality of JSON-like values. */

/** Whether two values of plain objects, arrays and primitives are equal; the order of keys does not matter, absent equals undefined. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameValue(item, b[i]))
    );
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  return isWithin(left, right) && isWithin(right, left);
}

function isWithin(inner: Record<string, unknown>, outer: Record<string, unknown>): boolean {
  return Object.keys(inner).every((key) =>
    sameValue(inner[key], Object.hasOwn(outer, key) ? outer[key] : undefined),
  );
}
