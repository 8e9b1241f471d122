/** `kg plan`: what a host would get, from objects in files; without root, network or cluster. */
import { diffHost, type Plan, type PlanInput, planHost, planPeer } from "../mesh/index.ts";
import { EXIT, InputError } from "./errors.ts";
import type { Io } from "./io.ts";
import { loadObjects, type Objects } from "./objects/index.ts";
import { PLAN_FLAGS, type PlanFlags, readPlanFlags } from "./plan/flags.ts";
import { planJson } from "./plan/json.ts";
import { resolveByTable } from "./plan/names.ts";
import { changesReport, peerReport, planReport } from "./plan/report.ts";
import { newestLastSeen, readNow } from "./plan/time.ts";
import { meshOptions } from "./topology-flags.ts";
import type { Verb } from "./verb.ts";

/** What kg takes when it cannot tell the MTU of the underlay (kilo.md §9.3): the plan has no link to ask. */
const FALLBACK_MTU = 1420;

/** So many names are listed when the one asked for does not exist: a screen, not a cluster. */
const MOST_NAMES = 20;

export const plan: Verb = {
  name: "plan",
  summary: "prints what a host would get, without root, network or cluster",
  usage: "plan -f FILE (--hostname NAME [--against FILE] | --peer NAME) [FLAGS]",
  notes: [
    "Links are named by role: mesh is the WireGuard link, private the one that carries the internal IP, tunnel the encapsulation device.",
    "What only the host itself knows (its private key, learned endpoints, the MTU of its links) is left out;",
    `--mtu=auto stands for ${FALLBACK_MTU}. Other kinds than Node and Peer are left out.`,
  ].join(" "),
  flags: PLAN_FLAGS,
  run: runPlan,
};

async function runPlan(args: readonly string[], io: Io): Promise<number> {
  const flags = readPlanFlags(args);
  const objects = await loadObjects(flags.files, io);
  io.stdout(flags.peer === undefined ? await host(objects, flags, io) : peer(objects, flags, flags.peer));
  return EXIT.ok;
}

async function host(objects: Objects, flags: PlanFlags, io: Io): Promise<string> {
  const input = planInput(objects, flags);
  const wanted = planKnownHost(input, flags.files);
  if (flags.against !== undefined) return against(wanted, input, flags, flags.against, io);
  if (flags.output === "text") return planReport(wanted, objects.ignored);
  const { state, mode, leader, ready, counts, problems, unresolved, nested } = wanted;
  const { hostname, now } = input;
  return planJson({ hostname, now, mode, leader, ready, counts, state, problems, unresolved, nested });
}

/** What changes on the host if it has the plan of the other file. Each input has its own newest last-seen, unless `--now` is given. */
async function against(
  wanted: Plan,
  input: PlanInput,
  flags: PlanFlags,
  file: string,
  io: Io,
): Promise<string> {
  const other = planInput(await loadObjects([file], io), flags);
  const actual = planKnownHost(other, [file]);
  const changes = diffHost(wanted.state, actual.state, { now: input.now, previous: actual.state });
  const { hostname, now } = input;
  return flags.output === "text"
    ? changesReport(wanted, actual, changes)
    : planJson({ hostname, now, changes });
}

function peer(objects: Objects, flags: PlanFlags, name: string): string {
  const input = planInput(objects, flags);
  const planned = planPeer(input, name);
  if (planned === undefined) throw unknownName("Peer", name, flags.files, objects.peers);
  if (flags.output === "text") return peerReport(name, planned, input.own.mtu, objects.ignored);
  const { mode, ready, addresses, peers, problems, unresolved } = planned;
  return planJson({ peer: name, now: input.now, mode, ready, addresses, peers, problems, unresolved });
}

function planInput(objects: Objects, flags: PlanFlags): PlanInput {
  return {
    hostname: flags.hostname ?? "",
    now: flags.now === undefined ? newestLastSeen(objects.nodes) : readNow(flags.now),
    nodes: objects.nodes,
    peers: objects.peers,
    options: meshOptions(flags),
    own: { mtu: flags.mtu ?? FALLBACK_MTU, learned: [] },
    resolve: resolveByTable(flags.resolve),
  };
}

function planKnownHost(input: PlanInput, files: readonly string[]): Plan {
  if (input.nodes.some(({ metadata }) => metadata.name === input.hostname)) return planHost(input);
  throw unknownName("Node", input.hostname, files, input.nodes);
}

function unknownName(kind: string, name: string, files: readonly string[], known: Named): InputError {
  const names = known.map(({ metadata }) => metadata.name).sort();
  const listed = names.slice(0, MOST_NAMES).join(", ");
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const there = names.length === 0 ? `no ${kind} at all` : `${listed}${more}`;
  return new InputError(
    `cannot plan ${name}: no ${kind} of this name in ${files.join(", ")} (there is ${there})`,
  );
}

type Named = readonly { readonly metadata: { readonly name: string } }[];
