/** Durations as Go writes them, because Kilo's flags are Go's: `30s`, `1m30s`, `1.5h`, `300ms`. */

/** Milliseconds of each unit (Go, `time.ParseDuration`). */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a duration, which may be negative; undefined when the text is none. `0` needs no unit, everything else does. */
export function parseDuration(text: string): number | undefined {
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === "0") return 0;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
  let total = 0;
  while (part.lastIndex < rest.length) {
    const found = part.exec(rest);
    if (found === null) return undefined;
    total += Number(found[1]) * (UNITS[found[2] ?? ""] ?? 0);
  }
  if (rest === "") return undefined;
  return sign === "-" ? -total : total;
}
