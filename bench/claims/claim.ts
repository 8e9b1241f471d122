/** A claim: what is promised, how it is measured, and what follows from what was measured. */

/**
 * - `count`: how often something happened that may happen `goal` times at the most
 * - `time`, `size`: at most `goal`; the median counts
 * - `ratio`: at least `goal`; the median counts
 */
export type ClaimKind = "count" | "time" | "size" | "ratio";

export interface Claim {
  readonly name: string;
  readonly kind: ClaimKind;
  readonly goal: number;
  /** Of goal and measurements; empty for counts. */
  readonly unit: string;
  /** What it has to be seen beside. */
  readonly beside?: (() => Promise<string>) | undefined;
  /** One measurement of a count, three or more of anything else. */
  readonly measure: () => Promise<readonly number[]>;
}

export interface Verdict {
  readonly claim: string;
  readonly measured: number | undefined;
  readonly goal: number;
  readonly unit: string;
  readonly holds: boolean;
  /** So wrong that the program fails. */
  readonly fatal: boolean;
  /** `ok|MISS  claim: measured (goal)` */
  readonly line: string;
}

/** A time or size beyond this many times its goal fails: slower machines exist, but not that slow. */
const HOPELESS = 3;

/** A ratio below this part of its goal fails. */
const LEAST_PART_OF_RATIO = 0.9;

/** Measures one claim. Never rejects: what cannot be measured does not hold. */
export async function check(claim: Claim): Promise<Verdict> {
  const { name, goal, unit } = claim;
  try {
    const measured = median(await claim.measure());
    const beside = await claim.beside?.();
    return { ...judge(claim, measured), line: lineOf(claim, measured, beside) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const line = `MISS  ${name}: cannot be measured: ${reason}`;
    return { claim: name, measured: undefined, goal, unit, holds: false, fatal: true, line };
  }
}

/** What follows from a measurement. */
export function judge(
  { name, kind, goal, unit }: Pick<Claim, "name" | "kind" | "goal" | "unit">,
  measured: number,
): Omit<Verdict, "line"> {
  const holds = kind === "ratio" ? measured >= goal : measured <= goal;
  const bearable: Record<ClaimKind, boolean> = {
    count: holds,
    time: measured <= goal * HOPELESS,
    size: measured <= goal * HOPELESS,
    ratio: measured >= goal * LEAST_PART_OF_RATIO,
  };
  return { claim: name, measured, goal, unit, holds, fatal: !bearable[kind] };
}

/** The middle one; of an even number the lower of the two in the middle. @throws RangeError when there is none */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined || sorted.some(Number.isNaN)) throw new RangeError("there is no measurement");
  return middle;
}

function lineOf(claim: Claim, measured: number, beside: string | undefined): string {
  const { name, kind, goal, unit } = claim;
  const word = judge(claim, measured).holds ? "ok  " : "MISS";
  const bound = kind === "ratio" ? "at least " : kind === "count" ? "" : "under ";
  const tail = beside === undefined ? "" : `; ${beside}`;
  return `${word}  ${name}: ${withUnit(measured, unit)} (${bound}${withUnit(goal, unit)}${tail})`;
}

function withUnit(value: number, unit: string): string {
  const digits = Number.isInteger(value) ? 0 : value < 10 ? 2 : 1;
  return `${value.toFixed(digits)}${unit === "" ? "" : ` ${unit}`}`;
}
