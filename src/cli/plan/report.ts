/** Plans as text for people: what the host gets, then what is left out and why. Prose fits a terminal, configuration stays as it is. */
import type { HostChanges, PeerPlan, Plan } from "../../mesh/index.ts";
import { WIDTH, wrap } from "../wrap.ts";
import { changesText } from "./changes-text.ts";
import { headline, meshLine, modeText, role } from "./headline.ts";
import { hostText } from "./host-text.ts";
import { laptopLines } from "./laptop.ts";
import { nameKeys } from "./peer-names.ts";
import { comparedRemarks, type Ignored, problemText, remarks } from "./remarks.ts";
import { section } from "./section.ts";

/** What there is to say beside a plan. */
export interface Aside {
  readonly ignored: Ignored;
  /** Why the agent would not start with these flags; undefined when it would. */
  readonly unserved: string | undefined;
}

/** The whole plan of a host. Holds no secret. */
export function planReport(plan: Plan, { ignored, unserved }: Aside): string {
  return [
    head([headline(plan), meshLine(plan), unserved]),
    hostText(plan.state, nameKeys(plan.topology)),
    ...remarks(plan, ignored),
  ].join("\n");
}

/** What changes on a host that has the plan of another file. Holds no secret. */
export function changesReport(
  plan: Plan,
  other: Plan,
  changes: HostChanges,
  { ignored, unserved, file }: Aside & { readonly file: string },
): string {
  const standing = (one: Plan) => `${role(one)}; ${meshLine(one)}`;
  const before = standing(other) === standing(plan) ? undefined : `In ${file} it ${standing(other)}`;
  return [
    head([headline(plan), meshLine(plan), before, unserved]),
    changesText(changes, nameKeys(plan.topology, other.topology)),
    ...comparedRemarks(plan, other, ignored),
  ].join("\n");
}

/** What an external Peer has to configure. Holds no secret. */
export function peerReport(name: string, plan: PeerPlan, mtu: number, ignored: Ignored): string {
  const standing = plan.ready ? "takes part" : "takes no part, nobody will answer it";
  return [
    head([`Peer ${name} ${standing}; ${modeText(plan.mode)}`]),
    section("WireGuard", laptopLines(name, plan, mtu)),
    ...remarks(plan, ignored),
  ].join("\n");
}

/** The configuration file of an external Peer and nothing else. Holds no secret. */
export function peerConf(name: string, plan: PeerPlan, mtu: number): string {
  return `${laptopLines(name, plan, mtu).join("\n")}\n`;
}

/** What `peerConf` has no place for: a line for each problem. */
export function peerWarnings(name: string, plan: PeerPlan): string[] {
  const hasPresharedKey = plan.peers.some(({ presharedKey }) => presharedKey !== undefined);
  const hidden = `Peer ${name}: its preshared key is not printed; write it into each [Peer] that says so`;
  return [...plan.problems.map(problemText), ...(hasPresharedKey ? [hidden] : [])];
}

function head(lines: readonly (string | undefined)[]): string {
  const said = lines.filter((line) => line !== undefined);
  return `${said.flatMap((line) => wrap(line.charAt(0).toUpperCase() + line.slice(1), WIDTH)).join("\n")}\n`;
}
