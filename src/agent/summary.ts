/** What a pass changed, in the few words that somebody who reads the log later needs. */
import type { HostChanges } from "../mesh/index.ts";
import type { LogContext } from "../telemetry/index.ts";

/** Counts of what was sent to the host; fields that are 0 are left out. */
export function summary(changes: HostChanges): LogContext {
  const peers = changes.device?.peers ?? [];
  const sets = changes.firewall?.kind === "elements" ? changes.firewall.sets : [];
  const counts = {
    peersAdded: peers.filter(({ kind }) => kind === "add").length,
    peersChanged: peers.filter(({ kind }) => kind === "update").length,
    peersRemoved: peers.filter(({ kind }) => kind === "remove").length,
    routesSet: changes.setRoutes.length,
    routesRemoved: changes.removeRoutes.length,
    rulesAdded: changes.addRules.length,
    rulesRemoved: changes.removeRules.length,
    elementsAdded: sum(sets.map(({ add }) => add.length)),
    elementsRemoved: sum(sets.map(({ remove }) => remove.length)),
  };
  return {
    ...(changes.mesh?.create === true ? { link: "made" } : {}),
    ...(changes.mesh?.up === undefined ? {} : { up: changes.mesh.up }),
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(changes.firewall?.kind === "replace" ? { firewall: "written" } : {}),
    ...(changes.cni === undefined ? {} : { cni: "written" }),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
