/** One look of an agent at the world: its host's plan, and what its own Node has to say. */

import { type InterfaceAddress, parseInterfaceAddress } from "../../ip/index.ts";
import type { PublicKey } from "../../wireguard/index.ts";
import { ANNOTATIONS, annotationsOf } from "../facts/annotations.ts";
import type { DiscoveredAddresses } from "../facts/discover-addresses.ts";
import { readDiscoveredEndpoints } from "../facts/discovered-endpoints.ts";
import { meshMode } from "../facts/mode.ts";
import { ownAddresses } from "../facts/own-addresses.ts";
import {
  type AnnotationPatch,
  checkInPatch,
  type OwnAnnotations,
  ownAnnotationPatch,
  withAnnotations,
} from "../facts/own-annotations.ts";
import type { NodeObject } from "../objects.ts";
import type { PlanInput } from "../options.ts";
import { type Plan, planHost } from "./plan.ts";

/** What an agent knows of itself besides the input of a plan. */
export interface AgentSelf {
  readonly publicKey: PublicKey;
  readonly discovered: DiscoveredAddresses;
  /** One word. */
  readonly version: string;
  readonly cniCompatibilityIP?: InterfaceAddress | undefined;
}

export interface AgentPlan {
  /** The plan as if the own Node already said what it has to say: a new node is complete in its first pass. */
  readonly plan: Plan;
  /** What has to be written to the own Node, in one patch; undefined when nothing differs, or when there is no own Node. */
  readonly patch: AnnotationPatch | undefined;
}

/** Plans the agent's own host. */
export function planAgent(input: PlanInput, self: AgentSelf): AgentPlan {
  const own = input.nodes.find(({ metadata }) => metadata.name === input.hostname);
  if (own === undefined) return { plan: planHost(input), patch: undefined };

  const checkIn = { now: input.now, version: self.version };
  // The mode hangs on the own agent too, and the own endpoint on the mode.
  const claimed = ownAnnotationPatch(own, announcement(input, self, own, "kilo"), checkIn) ?? {};
  const mode = meshMode(replaced(input.nodes, withAnnotations(own, claimed)));
  const announced = announcement(input, self, own, mode);
  // Whoever plans is alive, also while its check-ins are refused: it leaves its own mesh to nobody's clock.
  const overlay = { ...ownAnnotationPatch(own, announced, checkIn), ...checkInPatch(checkIn) };
  const plan = planHost({ ...input, nodes: replaced(input.nodes, withAnnotations(own, overlay)) });

  const { wireguardIP, discoveredEndpoints } = plan.published;
  const wanted = { ...announced, wireguardIP, discoveredEndpoints };
  return { plan, patch: ownAnnotationPatch(own, wanted, checkIn) };
}

/** What the own Node shall say, as far as it is known before the plan: what hangs on the plan stays as it was said last. */
function announcement(
  input: PlanInput,
  self: AgentSelf,
  own: NodeObject,
  mode: Plan["mode"],
): OwnAnnotations {
  const annotations = annotationsOf(own);
  return {
    ...ownAddresses(own, self.discovered, input.options.port, mode),
    publicKey: self.publicKey,
    wireguardIP: parseInterfaceAddress(annotations[ANNOTATIONS.wireguardIP] ?? ""),
    discoveredEndpoints: readDiscoveredEndpoints(annotations[ANNOTATIONS.discoveredEndpoints] ?? "") ?? [],
    granularity: input.options.granularity,
    cniCompatibilityIP: self.cniCompatibilityIP,
  };
}

function replaced(nodes: readonly NodeObject[], own: NodeObject): NodeObject[] {
  return nodes.map((node) => (node.metadata.name === own.metadata.name ? own : node));
}
