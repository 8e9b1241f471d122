/** The order of names on which all agents agree. */

/**
 * Compares by UTF-8 bytes, as Kilo's agents do (kilo.md §0, item 3). For texts of JavaScript that is the order of code points, which
 * differs from the built-in order of UTF-16 units only where surrogates meet units above them.
 */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return rank(unitA) - rank(unitB);
  }
  return a.length - b.length;
}

/** Compares two named things by their names. */
export function compareNames(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareBytes(a.name, b.name);
}

/** Moves surrogates (0xD800..0xDFFF) behind all other units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
