/** `kg plan`: what a host would get, from objects in files; without root, network or cluster. */
import { diffHost, type PeerPlan, type Plan, type PlanInput, planHost, planPeer } from "../mesh/index.ts";
import { EXIT, InputError } from "./errors.ts";
import type { Io } from "./io.ts";
import { loadObjects, type Objects, sourceName } from "./objects/index.ts";
import { PLAN_FLAGS, type PlanFlags, readPlanFlags } from "./plan/flags.ts";
import { absence } from "./plan/headline.ts";
import { planJson } from "./plan/json.ts";
import { changesFields, hostFields } from "./plan/json-fields.ts";
import { resolveByTable } from "./plan/names.ts";
import { changesReport, peerConf, peerReport, peerWarnings, planReport } from "./plan/report.ts";
import { newestLastSeen, readNow } from "./plan/time.ts";
import { meshOptions } from "./topology-flags.ts";
import { unservedText, unservedTopology } from "./unserved.ts";
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
    "Exit code: 0, also when something is wrong with others; 3 when the host or Peer itself takes no part (the plan is printed all the same);",
    "1 when the input cannot be used; 2 when the flags cannot.",
  ].join(" "),
  flags: PLAN_FLAGS,
  run: runPlan,
};

/** What is printed, and why the host or Peer takes no part. */
interface Answer {
  readonly stdout: string;
  readonly warnings?: readonly string[] | undefined;
  /** One sentence; undefined when it takes part. */
  readonly noPart: string | undefined;
}

async function runPlan(args: readonly string[], io: Io): Promise<number> {
  const flags = readPlanFlags(args);
  const objects = await loadObjects(flags.files, io);
  const { stdout, warnings, noPart } =
    flags.peer === undefined ? await host(objects, flags, io) : peer(objects, flags, flags.peer);
  io.stdout(stdout);
  for (const line of warnings ?? []) io.stderr(`${line}\n`);
  if (noPart === undefined) return EXIT.ok;
  io.stderr(`kg: ${noPart}\n`);
  return EXIT.noPart;
}

async function host(objects: Objects, flags: PlanFlags, io: Io): Promise<Answer> {
  const input = planInput(objects, flags);
  const wanted = planKnownHost(input, flags.files);
  const noPart = wanted.ready
    ? undefined
    : `Host ${input.hostname} takes no part: ${absence(wanted.problems)}`;
  if (flags.against !== undefined) {
    const stdout = await against({ wanted, input, objects, file: flags.against }, flags, io);
    return { stdout, noPart };
  }
  const unserved = unservedText(unservedTopology(flags));
  const stdout =
    flags.output === "text"
      ? planReport(wanted, { ignored: objects.ignored, unserved })
      : planJson(hostFields(wanted, input.now, unserved));
  return { stdout, noPart };
}

interface NewSide {
  readonly wanted: Plan;
  readonly input: PlanInput;
  readonly objects: Objects;
  /** The file of the other side. */
  readonly file: string;
}

/** What changes on the host if it has the plan of the other file, at the time of that file: `--now` is the new side's. */
async function against({ wanted, input, objects, file }: NewSide, flags: PlanFlags, io: Io): Promise<string> {
  const other = planInput(await loadObjects([file], io), { ...flags, now: undefined });
  const actual = planKnownHost(other, [file]);
  const changes = diffHost(wanted.state, actual.state, { now: input.now, previous: actual.state });
  const unserved = unservedText(unservedTopology(flags));
  if (flags.output !== "text") {
    return planJson(
      changesFields({ plan: wanted, now: input.now }, { plan: actual, now: other.now }, changes, unserved),
    );
  }
  const { ignored } = objects;
  return changesReport(wanted, actual, changes, { ignored, unserved, file: sourceName(file) });
}

function peer(objects: Objects, flags: PlanFlags, name: string): Answer {
  const input = planInput(objects, flags);
  const planned = planPeer(input, name);
  if (planned === undefined) throw unknownName("Peer", name, flags.files, objects.peers);
  const noPart = planned.ready ? undefined : `Peer ${name} takes no part: nobody will answer it`;
  const { mtu } = input.own;
  switch (flags.output) {
    case "text":
      return { stdout: peerReport(name, planned, mtu, objects.ignored), noPart };
    case "conf":
      return { stdout: peerConf(name, planned, mtu), warnings: peerWarnings(name, planned), noPart };
    default:
      return { stdout: peerJson(name, planned, input.now), noPart };
  }
}

function peerJson(name: string, planned: PeerPlan, now: number): string {
  const { mode, ready, addresses, peers, problems, unresolved } = planned;
  return planJson({ peer: name, now, mode, ready, addresses, peers, problems, unresolved });
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
  const sources = files.map(sourceName).join(", ");
  return new InputError(`cannot plan ${name}: no ${kind} of this name in ${sources} (there is ${there})`);
}

type Named = readonly { readonly metadata: { readonly name: string } }[];
