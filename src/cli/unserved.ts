/** Topology flags of Kilo's that the agent does not serve yet. `kg` refuses them at start; `kg plan` plans them, and says so. */
import type { FlagValues } from "./flags.ts";
import type { TOPOLOGY_FLAGS } from "./topology-flags.ts";

export interface Unserved {
  /** As it would be typed, e.g. `--encapsulate=always`. */
  readonly flag: string;
  /** Why, and what to do, behind "cannot use FLAG: ". */
  readonly reason: string;
  /** How to start the agent instead, e.g. `with --encapsulate=never`. */
  readonly start: string;
}

/** Empty when the agent starts with these values. */
export function unservedTopology({
  compatibility,
  encapsulate,
}: Pick<FlagValues<typeof TOPOLOGY_FLAGS>, "compatibility" | "encapsulate">): Unserved[] {
  const unserved: Unserved[] = [];
  if (compatibility !== "") {
    unserved.push({
      flag: `--compatibility=${compatibility}`,
      reason: "not served yet; leave it out to let kg carry packets inside a location itself",
      start: "without --compatibility",
    });
  }
  if (encapsulate !== "never") {
    unserved.push({
      flag: `--encapsulate=${encapsulate}`,
      reason:
        "this agent cannot encapsulate yet; give --encapsulate=never, where nodes of a location reach each other's pods by plain routes (one layer-2 network)",
      start: "with --encapsulate=never",
    });
  }
  return unserved;
}

/** One sentence; undefined when everything is served. */
export function unservedText(unserved: readonly Unserved[]): string | undefined {
  if (unserved.length === 0) return undefined;
  const flags = unserved.map(({ flag }) => flag).join(" and ");
  const starts = unserved.map(({ start }) => start).join(" and ");
  return `this agent does not serve ${flags} yet: start it ${starts}`;
}
