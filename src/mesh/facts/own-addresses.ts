/** Endpoint and internal IP that an agent announces for its own node: what the administrator forces, else what was discovered. */
import { type InterfaceAddress, isLocal, parseInterfaceAddress } from "../../ip/index.ts";
import { type Endpoint, parseEndpoint, socketEndpoint } from "../../wireguard/index.ts";
import type { NodeObject } from "../objects.ts";
import { ANNOTATIONS, annotationsOf, readBareAddress, saysNone } from "./annotations.ts";
import type { DiscoveredAddresses } from "./discover-addresses.ts";
import type { Mode } from "./mode.ts";

export interface OwnAddresses {
  readonly endpoint?: Endpoint | undefined;
  readonly internalIP?: InterfaceAddress | undefined;
}

/**
 * What the agent announces. Unlike Kilo's, an announced value does not outlive its reason: with another port, address or a removed
 * force-annotation the discovered one takes its place (B16); only a host that has no usable address at all, as when its link is down for
 * a moment, keeps what it announced: nobody else should move because of it. A forced "none" for the endpoint counts only when all agents are ours (K-07):
 * Kilo's would take the node for incomplete.
 */
export function ownAddresses(
  node: NodeObject,
  discovered: DiscoveredAddresses,
  port: number,
  mode: Mode,
): OwnAddresses {
  const annotations = annotationsOf(node);
  const found = discovered.external === undefined ? announced(node) : discoveredAddresses(discovered, port);
  return {
    endpoint: forcedEndpoint(annotations[ANNOTATIONS.forceEndpoint], found.endpoint, mode),
    internalIP: forcedInternalIP(annotations[ANNOTATIONS.forceInternalIP], found.internalIP),
  };
}

function discoveredAddresses({ external, internalIP }: DiscoveredAddresses, port: number): OwnAddresses {
  return { endpoint: external && socketEndpoint(external, port), internalIP };
}

function announced(node: NodeObject): OwnAddresses {
  const annotations = annotationsOf(node);
  return {
    endpoint: parseEndpoint(annotations[ANNOTATIONS.endpoint] ?? ""),
    internalIP: parseInterfaceAddress(annotations[ANNOTATIONS.internalIP] ?? ""),
  };
}

function forcedEndpoint(
  text: string | undefined,
  found: Endpoint | undefined,
  mode: Mode,
): Endpoint | undefined {
  if (text === undefined) return found;
  if (mode === "kilomesh" && saysNone(text)) return undefined;
  const forced = parseEndpoint(text);
  const isUsable = forced !== undefined && (forced.kind === "name" || !isLocal(forced.address));
  return isUsable ? forced : found;
}

function forcedInternalIP(
  text: string | undefined,
  found: InterfaceAddress | undefined,
): InterfaceAddress | undefined {
  if (text === undefined) return found;
  if (saysNone(text)) return undefined;
  const forced = parseInterfaceAddress(text) ?? readBareAddress(text);
  return forced !== undefined && !isLocal(forced.address) ? forced : found;
}
