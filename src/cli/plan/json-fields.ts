/** What `-o json` holds of a host's plan. Fields are added, never renamed: scripts read them. */
import type { HostChanges, Plan } from "../../mesh/index.ts";
import { compareBy, nameIdentity, problemIdentity } from "./compare.ts";

/** A plan and its time in Unix seconds. */
export interface TimedPlan {
  readonly plan: Plan;
  readonly now: number;
}

/** The whole plan of a host. @param unserved why the agent would not start with these flags; null when it would */
export function hostFields(plan: Plan, now: number, unserved: string | undefined) {
  const { problems, unresolved, nested, state } = plan;
  return { ...standing({ plan, now }), notServed: unserved ?? null, state, problems, unresolved, nested };
}

/**
 * What changes, with what decides: `problems` and `unresolved` are the new side's, each marked with whether it is new; below `against` are
 * those of the other side, each marked with whether it is gone.
 */
export function changesFields(
  wanted: TimedPlan,
  other: TimedPlan,
  changes: HostChanges,
  unserved: string | undefined,
) {
  const problems = compareBy(wanted.plan.problems, other.plan.problems, problemIdentity);
  const names = compareBy(wanted.plan.unresolved, other.plan.unresolved, nameIdentity);
  return {
    ...standing(wanted),
    notServed: unserved ?? null,
    changes,
    problems: wanted.plan.problems.map((problem) => ({ ...problem, new: problems.isNew(problem) })),
    unresolved: wanted.plan.unresolved.map((name) => ({ ...name, new: names.isNew(name) })),
    nested: wanted.plan.nested,
    against: {
      ...standing(other),
      problems: other.plan.problems.map((problem) => ({ ...problem, gone: problems.isGone(problem) })),
      unresolved: other.plan.unresolved.map((name) => ({ ...name, gone: names.isGone(name) })),
      nested: other.plan.nested,
    },
  };
}

/** Who the host is in the mesh. */
function standing({ plan, now }: TimedPlan) {
  const { topology, mode, leader, ready, counts } = plan;
  const { hostname, own } = topology;
  const segment = own && {
    name: own.name,
    leader: own.leader.name,
    members: own.members.map(({ name }) => name),
  };
  return { hostname, now, mode, leader, ready, segment, counts };
}
