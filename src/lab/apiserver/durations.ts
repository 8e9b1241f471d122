/** Ages as kubectl shows them. */

/** An age as kubectl shows it: `59s`, `5m2s`, `47h`, `12d`, `2y31d`. Two units only where the first is small. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 0) return "0s";
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const years = Math.floor(days / 365);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, "d", hours % 24, "h");
  if (years < 2) return `${days}d`;
  return years < 8 ? two(years, "y", days % 365, "d") : `${years}y`;
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** The age of a time in RFC 3339 at `now` (milliseconds since 1970). */
export function age(time: string | undefined, now: number): string {
  const then = Date.parse(time ?? "");
  return Number.isNaN(then) ? "<unknown>" : humanDuration(now - then);
}
