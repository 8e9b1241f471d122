// A reporter for node's test runner: one line for each test that ended (`pass`, `fail`, `skip`, `todo`), suites left out.
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (isOnlySum(type, data)) continue;
    yield `${outcome(type, data)}\n`;
  }
}

/** A suite counts only when it failed by itself, as when its body threw. */
function isOnlySum(type, { details }) {
  if (details?.type !== "suite") return false;
  return type === "test:pass" || details.error?.failureType === "subtestsFailed";
}

function outcome(type, data) {
  if (data.skip !== undefined) return "skip";
  if (data.todo !== undefined) return "todo";
  return type === "test:pass" ? "pass" : "fail";
}
