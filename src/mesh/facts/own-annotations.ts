/** What an agent writes to its own Node object (kilo.md §2.1, §2.3), as a merge patch of annotations. */
import type { InterfaceAddress } from "../../ip/index.ts";
import { type Endpoint, formatEndpoint, type PublicKey } from "../../wireguard/index.ts";
import { AGENT_ANNOTATION } from "../names.ts";
import type { NodeObject } from "../objects.ts";
import type { Granularity } from "../options.ts";
import { ANNOTATIONS, annotationsOf } from "./annotations.ts";
import { type DiscoveredEndpoint, formatDiscoveredEndpoints } from "./discovered-endpoints.ts";
import { agentAnnotation, hasOurAgent } from "./mode.ts";

/** What a node says of itself. What is undefined is written as an empty text, never deleted: Kilo's agents do so. */
export interface OwnAnnotations {
  /** The effective endpoint: a forced one is copied here. */
  readonly endpoint?: Endpoint | undefined;
  readonly internalIP?: InterfaceAddress | undefined;
  readonly publicKey: PublicKey;
  readonly wireguardIP?: InterfaceAddress | undefined;
  readonly discoveredEndpoints: readonly DiscoveredEndpoint[];
  readonly granularity: Granularity;
  readonly cniCompatibilityIP?: InterfaceAddress | undefined;
}

/** Every annotation that an agent writes: what clean-up removes (kilo.md §1.6 and B45, where Kilo forgets one). */
export const OWN_ANNOTATIONS: readonly string[] = [
  ANNOTATIONS.endpoint,
  ANNOTATIONS.internalIP,
  ANNOTATIONS.key,
  ANNOTATIONS.lastSeen,
  ANNOTATIONS.wireguardIP,
  ANNOTATIONS.discoveredEndpoints,
  ANNOTATIONS.granularity,
  ANNOTATIONS.cniCompatibilityIP,
  AGENT_ANNOTATION,
];

export interface CheckIn {
  /** Unix seconds. */
  readonly now: number;
  /** The agent's version: one word. */
  readonly version: string;
}

/** Annotations to set, by name. */
export type AnnotationPatch = Readonly<Record<string, string>>;

/**
 * What has to be written, with a check-in in the same patch; undefined when nothing differs. A check-in alone is no difference, but a node
 * that does not say yet that an agent of ours (of this version) runs there does differ.
 */
export function ownAnnotationPatch(
  node: NodeObject,
  own: OwnAnnotations,
  checkIn: CheckIn,
): AnnotationPatch | undefined {
  const annotations = annotationsOf(node);
  const changed = Object.entries(textsOf(own)).filter(([name, text]) => annotations[name] !== text);
  if (changed.length === 0 && saysVersion(node, checkIn.version)) return undefined;
  return { ...Object.fromEntries(changed), ...checkInPatch(checkIn) };
}

/** A check-in and nothing else: what Kilo's agents expect every 30 s. */
export function checkInPatch({ now, version }: CheckIn): AnnotationPatch {
  return { [ANNOTATIONS.lastSeen]: String(now), [AGENT_ANNOTATION]: agentAnnotation(version, now) };
}

/** The node as it is after a patch: an agent plans with what it is about to write, and writes once instead of twice. */
export function withAnnotations(node: NodeObject, patch: AnnotationPatch): NodeObject {
  const annotations = { ...annotationsOf(node), ...patch };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

function textsOf(own: OwnAnnotations): AnnotationPatch {
  return {
    [ANNOTATIONS.endpoint]: own.endpoint === undefined ? "" : formatEndpoint(own.endpoint),
    [ANNOTATIONS.internalIP]: own.internalIP?.text ?? "",
    [ANNOTATIONS.key]: own.publicKey,
    [ANNOTATIONS.wireguardIP]: own.wireguardIP?.text ?? "",
    [ANNOTATIONS.discoveredEndpoints]: formatDiscoveredEndpoints(own.discoveredEndpoints),
    [ANNOTATIONS.granularity]: own.granularity,
    [ANNOTATIONS.cniCompatibilityIP]: own.cniCompatibilityIP?.text ?? "",
  };
}

function saysVersion(node: NodeObject, version: string): boolean {
  return hasOurAgent(node) && (annotationsOf(node)[AGENT_ANNOTATION] ?? "").startsWith(`${version} `);
}
