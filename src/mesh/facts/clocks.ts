/** Clocks that differ from this host's, and whose fault it is (report S-13). */
import type { PlanInput } from "../options.ts";
import type { Problem, ProblemReason } from "../problems.ts";
import { FRESH_SECONDS } from "./freshness.ts";
import type { NodeFacts } from "./node.ts";

/** How far apart clocks may be without a word: as far as Kilo's agents bear it. */
const TOLERATED_SECONDS = FRESH_SECONDS;

type ClockInput = Pick<PlanInput, "hostname" | "now" | "checkIns" | "gap">;

/** Told of each node whose clock differs; of this host instead when its clock differs from those of most others, and all the same way. */
export function clockProblems(nodes: readonly NodeFacts[], input: ClockInput): Problem[] {
  const others = nodes.filter(({ name }) => name !== input.hostname);
  const offsets = others.flatMap((node) => offsetOf(node, input));
  const ahead = offsets.filter(({ seconds }) => seconds >= TOLERATED_SECONDS);
  const behind = offsets.filter(({ seconds }) => seconds <= -TOLERATED_SECONDS);
  if (nodes.length > others.length) {
    if (areMost(ahead, offsets)) return [ofHost(input.hostname, "clock-behind", ahead)];
    if (areMost(behind, offsets)) return [ofHost(input.hostname, "clock-ahead", behind)];
  }
  return [
    ...ahead.map((offset) => ofNode(offset, "clock-ahead")),
    ...behind.map((offset) => ofNode(offset, "clock-behind")),
  ];
}

interface Offset {
  readonly name: string;
  /** How far the node's clock is ahead of this host's. */
  readonly seconds: number;
}

/**
 * Known of a node that was heard to check in a moment ago: what it wrote is the time by its clock. Of others a last-seen in the past says
 * nothing unless it is fresh, since they may be dead; one in the future says how far its clock is ahead at least. After a gap what is
 * heard may have been written long before, so it tells of no clock that is behind.
 */
function offsetOf({ name, lastSeen }: NodeFacts, { now, checkIns, gap }: ClockInput): Offset[] {
  const heard = checkIns?.get(name);
  const isRecent = heard !== undefined && Math.abs(now - heard) < FRESH_SECONDS;
  const seconds = lastSeen - (isRecent ? heard : now);
  const isKnown = seconds > -TOLERATED_SECONDS || (isRecent && gap === undefined);
  return lastSeen > 0 && isKnown ? [{ name, seconds }] : [];
}

/** One node that differs says nothing about which of the two is wrong, so it takes two. */
function areMost(some: readonly Offset[], all: readonly Offset[]): boolean {
  return some.length > 1 && some.length * 2 > all.length;
}

function ofNode({ name, seconds }: Offset, reason: ProblemReason): Problem {
  return { object: { kind: "Node", name }, reason, message: `its clock is ${distance(seconds)} this host's` };
}

/** By the smallest distance: that much is sure. */
function ofHost(name: string, reason: ProblemReason, offsets: readonly Offset[]): Problem {
  const [first = 0, ...rest] = offsets.map(({ seconds }) => -seconds);
  const smallest = rest.reduce(
    (least, seconds) => (Math.abs(seconds) < Math.abs(least) ? seconds : least),
    first,
  );
  const message = `this host's clock is ${distance(smallest)} those of most other nodes`;
  return { object: { kind: "Host", name }, reason, message };
}

/** In words that stay while the clocks do. */
function distance(seconds: number): string {
  const [, unit = "a minute"] = UNITS.find(([length]) => Math.abs(seconds) >= length) ?? [];
  return `${unit} or more ${seconds < 0 ? "behind" : "ahead of"}`;
}

const UNITS = [
  [86_400, "a day"],
  [3_600, "an hour"],
  [60, "a minute"],
] as const;
