/** Plans as text for people: what the host gets, then what is left out and why. */
import type { HostChanges, NestedPrefix, PeerPlan, Plan, Problem, UnresolvedName } from "../../mesh/index.ts";
import { changesText } from "./changes-text.ts";
import { peerLines } from "./device-text.ts";
import { hostText } from "./host-text.ts";
import { nameKeys } from "./peer-names.ts";
import { section } from "./section.ts";

/** How many objects of which other kinds stood in the input. */
export type Ignored = ReadonlyMap<string, number>;

/** The whole plan of a host. Holds no secret. */
export function planReport(plan: Plan, ignored: Ignored): string {
  const host = hostText(plan.state, nameKeys(plan.topology));
  return [`${headline(plan)}\n`, host, ...remarks(plan, plan.nested, ignored)].join("\n");
}

/** What changes on a host that has the other plan. Holds no secret. */
export function changesReport(plan: Plan, other: Plan, changes: HostChanges): string {
  return `${headline(plan)}\n\n${changesText(changes, nameKeys(plan.topology, other.topology))}`;
}

/** What an external Peer has to configure. Holds no secret. */
export function peerReport(name: string, plan: PeerPlan, mtu: number, ignored: Ignored): string {
  const standing = plan.ready ? "takes part" : "does not take part: nobody will answer it";
  return [
    `Peer ${name} ${standing}; ${modeText(plan.mode)}\n`,
    section("WireGuard", laptopLines(name, plan, mtu)),
    ...remarks(plan, [], ignored),
  ].join("\n");
}

function headline(plan: Plan): string {
  const { nodes, peers } = plan.counts;
  const mesh = `${count(nodes, "node")} and ${count(peers, "peer")} take part, ${modeText(plan.mode)}`;
  return `Host ${plan.topology.hostname} ${role(plan)}; ${mesh}`;
}

function role({ ready, leader, topology }: Plan): string {
  if (!ready) return "takes no part";
  return `${leader ? "leads" : "is a member of"} ${topology.own?.name}`;
}

function modeText(mode: Plan["mode"]): string {
  return mode === "kilo" ? "by Kilo's rules (not all agents are Kilomesh's)" : "all agents are Kilomesh's";
}

interface Remarked {
  readonly problems: readonly Problem[];
  readonly unresolved: readonly UnresolvedName[];
}

function remarks(
  { problems, unresolved }: Remarked,
  nested: readonly NestedPrefix[],
  ignored: Ignored,
): string[] {
  const kinds = [...ignored].map(([kind, number]) => `${count(number, "object")} of kind ${kind}`);
  const others: [string, string[]][] = [
    ["Decisions that hang on names without address", unresolved.map(unresolvedText)],
    ["Prefixes inside others (both stay, the longest match wins)", nested.map(nestedText)],
  ];
  return [
    section("Left out or wrong, and why", [...problems.map(problemText), ...kinds]),
    ...others.filter(([, lines]) => lines.length > 0).map(([title, lines]) => section(title, lines)),
  ];
}

function problemText({ object, reason, message }: Problem): string {
  const name = object.kind === "Option" ? `--${object.name}` : object.name;
  return `${object.kind} ${name}: ${message} (${reason})`;
}

function unresolvedText({ name, owner, decidesLeaderOf }: UnresolvedName): string {
  const leader = decidesLeaderOf === undefined ? "" : `, and who leads ${decidesLeaderOf}`;
  return `${name}: where ${owner.kind} ${owner.name} is reached${leader} (--resolve ${name}=IP)`;
}

function nestedText({ inner, innerOwner, outer, outerOwner, count: number }: NestedPrefix): string {
  const more = number > 1 ? ` and ${number - 1} more` : "";
  const held = `${outer.text} of ${outerOwner.kind} ${outerOwner.name}`;
  return `${inner.text} of ${innerOwner.kind} ${innerOwner.name}${more}, in ${held}`;
}

/** As wg-quick and WireGuard's apps read it, but for the private key. */
function laptopLines(name: string, plan: PeerPlan, mtu: number): string[] {
  return [
    "[Interface]",
    `# PrivateKey = (only ${name} has it)`,
    `Address = ${plan.addresses.map(({ text }) => text).join(", ")}`,
    `MTU = ${mtu}`,
    ...peerLines(plan.peers, nameKeys(plan.topology)),
  ];
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
