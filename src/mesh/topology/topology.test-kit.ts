/** Step 1 alone, from objects, and its routes as text: for tables and for the comparison with the other model. */
import { type Mode, meshMode } from "../facts/mode.ts";
import { nodeFacts } from "../facts/node.ts";
import { peerFacts } from "../facts/peer.ts";
import { isReadyNode, isReadyPeer } from "../facts/readiness.ts";
import { meshOptions, NOW } from "../fixtures.test-kit.ts";
import { POLICY_TABLE } from "../names.ts";
import type { NodeObject, PeerObject } from "../objects.ts";
import type { LearnedEndpoint, MeshOptions, Resolve } from "../options.ts";
import type { WantedRoute, WantedRouting, WantedRule } from "./routes.ts";
import { buildTopology, type Topology } from "./topology.ts";

export interface TopologySketch {
  readonly nodes: readonly NodeObject[];
  readonly peers?: readonly PeerObject[];
  readonly hostname: string;
  readonly options?: Partial<MeshOptions>;
  readonly mode?: Mode;
  readonly learned?: readonly LearnedEndpoint[];
  readonly resolve?: Resolve;
}

export function topologyOf(sketch: TopologySketch): Topology {
  const options = meshOptions(sketch.options);
  const mode = sketch.mode ?? meshMode(sketch.nodes);
  const view = { at: NOW };
  const nodes = sketch.nodes.map(
    (object) => nodeFacts(object, { mode, topologyLabel: options.topologyLabel }).facts,
  );
  return buildTopology({
    hostname: sketch.hostname,
    mode,
    granularity: options.granularity,
    subnet: options.subnet,
    now: NOW,
    nodes: nodes.filter((node) => isReadyNode(node, view)),
    peers: (sketch.peers ?? []).map((object) => peerFacts(object).facts).filter(isReadyPeer),
    learned: sketch.learned ?? [],
    resolve: sketch.resolve ?? (() => undefined),
  });
}

const DEVICES = { mesh: "kilo", private: "priv", tunnel: "tunl" } as const;

/** `10.2.2.0/24 via 10.4.0.2 dev kilo onlink src 192.168.0.1`, sorted. */
export function routeTexts({ routes }: WantedRouting): string[] {
  return routes.map(routeText).sort();
}

/** `from 10.2.2.0/24 to 192.168.0.2/32 iif kilo0 table 1107`, sorted. */
export function ruleTexts({ rules }: WantedRouting): string[] {
  return rules.map(ruleText).sort();
}

function routeText({ destination, gateway, link, source, table }: WantedRoute): string {
  const words = [destination.text];
  if (gateway !== undefined) words.push("via", gateway.text);
  words.push("dev", DEVICES[link]);
  if (gateway !== undefined) words.push("onlink");
  if (source !== undefined) words.push("src", source.text);
  if (table === POLICY_TABLE) words.push("table", String(table));
  return words.join(" ");
}

function ruleText({ from, to, inputLink, table }: WantedRule): string {
  const words: string[] = [];
  if (from !== undefined) words.push("from", from.text);
  words.push("to", to.text);
  if (inputLink !== undefined) words.push("iif", `${DEVICES[inputLink]}0`);
  return [...words, "table", String(table)].join(" ");
}
