/** All objects read: who takes part, who does not, and why. */
import type { PlanInput } from "../options.ts";
import { nodeProblem, type Problem } from "../problems.ts";
import { clockProblems } from "./clocks.ts";
import type { FreshnessView } from "./freshness.ts";
import { type Mode, meshMode } from "./mode.ts";
import { type NodeFacts, nodeFacts } from "./node.ts";
import { type PeerFacts, peerFacts } from "./peer.ts";
import {
  isReadyNode,
  isReadyPeer,
  type ReadyNode,
  type ReadyPeer,
  whyNotReady,
  whyPeerNotReady,
} from "./readiness.ts";

export interface MeshFacts {
  readonly mode: Mode;
  /** Of all Node objects, ready or not. */
  readonly nodes: readonly NodeFacts[];
  readonly readyNodes: readonly ReadyNode[];
  /** Of all Peer objects, ready or not. */
  readonly peers: readonly PeerFacts[];
  readonly readyPeers: readonly ReadyPeer[];
  readonly problems: readonly Problem[];
}

/** Reads every object of the input once. */
export function readMesh(input: PlanInput): MeshFacts {
  const mode = meshMode(input.nodes);
  const context = { mode, topologyLabel: input.options.topologyLabel };
  const view = freshnessView(input, mode);
  const nodes = input.nodes.map((object) => nodeFacts(object, context));
  const peers = input.peers.map(peerFacts);

  const allNodes = nodes.map(({ facts }) => facts);
  const allPeers = peers.map(({ facts }) => facts);
  const ready = allNodes.filter((node) => isReadyNode(node, view));
  const readyNodes = ready.filter(
    (node) => node.name === input.hostname || !announcesLocationInCross(node, mode, input),
  );
  const problems = [
    ...[...nodes, ...peers].flatMap((read) => read.problems),
    ...allNodes.map((node) => whyNotReady(node, view)),
    ...allPeers.map(whyPeerNotReady),
    ...clockProblems(allNodes, input),
    ...ready.map((node) => granularityProblem(node, mode, input)),
  ];
  return {
    mode,
    nodes: allNodes,
    readyNodes,
    peers: allPeers,
    readyPeers: allPeers.filter(isReadyPeer),
    problems: problems.filter((problem) => problem !== undefined),
  };
}

function freshnessView({ now, heardAt, gap, checkIns }: PlanInput, mode: Mode): FreshnessView {
  const at = Math.min(now, heardAt ?? now);
  return { at, gap, checkIns: mode === "kilomesh" ? checkIns : undefined };
}

/** Its segments are numbered otherwise, so no tunnel to it could work. Kilo's fork does not look at announcements. */
function announcesLocationInCross(node: NodeFacts, mode: Mode, { options }: PlanInput): boolean {
  return mode === "kilomesh" && options.granularity === "cross" && node.granularity === "location";
}

function granularityProblem(node: NodeFacts, mode: Mode, input: PlanInput): Problem | undefined {
  const wanted = input.options.granularity;
  if (node.name === input.hostname || node.granularity === undefined || node.granularity === wanted)
    return undefined;
  const reason = announcesLocationInCross(node, mode, input) ? "granularity-left-out" : "granularity-differs";
  return nodeProblem(node.name, reason, `announces granularity ${node.granularity}, this host has ${wanted}`);
}
