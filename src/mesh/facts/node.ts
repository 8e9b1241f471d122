/** What a Node object says about its part of the mesh (kilo.md §2.1). */
import {
  type Address,
  type InterfaceAddress,
  isLocal,
  type Prefix,
  parseInterfaceAddress,
  parsePrefix,
} from "../../ip/index.ts";
import { type Endpoint, type PublicKey, parseEndpoint, parsePublicKey } from "../../wireguard/index.ts";
import type { NodeObject } from "../objects.ts";
import type { Granularity } from "../options.ts";
import { nodeProblem, type Problem, type ProblemReason } from "../problems.ts";
import {
  ANNOTATIONS,
  annotationsOf,
  lastSeenOf,
  readBareAddress,
  readGranularity,
  readKeepalive,
  readPrefixList,
  saysNo,
  saysNone,
} from "./annotations.ts";
import { type DiscoveredEndpoint, readDiscoveredEndpoints } from "./discovered-endpoints.ts";
import type { Mode } from "./mode.ts";

export interface NodeFacts {
  readonly name: string;
  /** Empty is the default location. */
  readonly location: string;
  /** The effective endpoint: forced before announced. At most one until there is an annotation for the second family. */
  readonly endpoints: readonly Endpoint[];
  /** The node says that it has no endpoint and contacts others itself (report K-07). Only when all agents are ours. */
  readonly endpointRefused: boolean;
  /** With the length of the network they are in. At most one until there is an annotation for the second family. */
  readonly internalIPs: readonly InterfaceAddress[];
  readonly publicKey?: PublicKey | undefined;
  /** Host bits are zero. Kilo's agents know only the first, so in a mixed mesh there is only that one (B57). */
  readonly podCIDRs: readonly Prefix[];
  /** Unix seconds; 0 if unknown. */
  readonly lastSeen: number;
  readonly leader: boolean;
  /** Seconds; 0 is off. Above 0 marks a node whose endpoint may change (kilo.md §5.8). */
  readonly persistentKeepalive: number;
  readonly discoveredEndpoints: readonly DiscoveredEndpoint[];
  readonly allowedLocationIPs: readonly Prefix[];
  readonly granularity?: Granularity | undefined;
  readonly cniCompatibilityIP?: Address | undefined;
}

export interface NodeContext {
  readonly mode: Mode;
  /** Node label that names the location, where the annotation does not. */
  readonly topologyLabel: string;
}

/** Reads one Node object. What cannot be read is passed over and named in `problems`. */
export function nodeFacts(
  node: NodeObject,
  context: NodeContext,
): { readonly facts: NodeFacts; readonly problems: readonly Problem[] } {
  const reader = new NodeReader(node, context);
  return { facts: reader.facts(), problems: reader.problems };
}

/** Addresses at which others contact a node. None of a node with a keepalive: it is behind NAT, and what it announces is an address that only its own location reaches. */
export function contactAddresses({ endpoints, persistentKeepalive }: NodeFacts): Address[] {
  if (persistentKeepalive > 0) return [];
  return endpoints.flatMap((endpoint) => (endpoint.kind === "address" ? [endpoint.address] : []));
}

class NodeReader {
  readonly problems: Problem[] = [];
  readonly #node: NodeObject;
  readonly #context: NodeContext;
  readonly #annotations: Readonly<Record<string, string>>;

  constructor(node: NodeObject, context: NodeContext) {
    this.#node = node;
    this.#context = context;
    this.#annotations = annotationsOf(node);
  }

  facts(): NodeFacts {
    const annotations = this.#annotations;
    const endpoint = this.#endpoint();
    const internalIP = this.#internalIP();
    return {
      name: this.#node.metadata.name,
      location: this.#location(),
      endpoints: endpoint === undefined ? [] : [endpoint],
      endpointRefused: this.#refusesEndpoint(),
      internalIPs: internalIP === undefined ? [] : [internalIP],
      publicKey: this.#publicKey(),
      podCIDRs: this.#podCIDRs(),
      lastSeen: lastSeenOf(this.#node),
      leader: this.#leader(),
      persistentKeepalive: this.#keepalive(),
      discoveredEndpoints: this.#discoveredEndpoints(),
      allowedLocationIPs: this.#allowedLocationIPs(),
      granularity: readGranularity(annotations[ANNOTATIONS.granularity]),
      cniCompatibilityIP: parseInterfaceAddress(annotations[ANNOTATIONS.cniCompatibilityIP] ?? "")?.address,
    };
  }

  get #isOurs(): boolean {
    return this.#context.mode === "kilomesh";
  }

  /** The annotation wins, even when it is empty; then the label (kilo.md §2.1, report K-56). */
  #location(): string {
    const label = this.#node.metadata.labels?.[this.#context.topologyLabel];
    return this.#annotations[ANNOTATIONS.location] ?? label ?? "";
  }

  #refusesEndpoint(): boolean {
    const forced = this.#annotations[ANNOTATIONS.forceEndpoint];
    return this.#isOurs && forced !== undefined && saysNone(forced);
  }

  #endpoint(): Endpoint | undefined {
    if (this.#refusesEndpoint()) return undefined;
    return this.#readEndpoint(ANNOTATIONS.forceEndpoint) ?? this.#readEndpoint(ANNOTATIONS.endpoint);
  }

  #readEndpoint(annotation: string): Endpoint | undefined {
    const text = this.#annotations[annotation];
    if (text === undefined || text === "") return undefined;
    const endpoint = parseEndpoint(text);
    if (endpoint === undefined) {
      this.#invalid(annotation, text);
      return undefined;
    }
    return endpoint.kind === "address" && this.#isIgnored(annotation, endpoint.address)
      ? undefined
      : endpoint;
  }

  #internalIP(): InterfaceAddress | undefined {
    const forced = this.#annotations[ANNOTATIONS.forceInternalIP];
    if (forced !== undefined && saysNone(forced)) return undefined;
    return this.#readInternalIP(ANNOTATIONS.forceInternalIP) ?? this.#readInternalIP(ANNOTATIONS.internalIP);
  }

  #readInternalIP(annotation: string): InterfaceAddress | undefined {
    const text = this.#annotations[annotation];
    if (text === undefined || text === "") return undefined;
    const parsed = parseInterfaceAddress(text) ?? (this.#isOurs ? readBareAddress(text) : undefined);
    if (parsed === undefined) {
      this.#invalid(annotation, text);
      return undefined;
    }
    return this.#isIgnored(annotation, parsed.address) ? undefined : parsed;
  }

  /**
   * Report K-24. In a mixed mesh the address stays a fact, because Kilo's agents number the segments with it; nothing is sent to it
   * or routed for it there either.
   */
  #isIgnored(annotation: string, address: Address): boolean {
    if (!isLocal(address)) return false;
    this.#report(
      "address-ignored",
      `annotation ${annotation} names ${address.text}, which no other host can reach`,
    );
    return this.#isOurs;
  }

  /** Line ends around the key do not count (report K-16): Kilo's decoder passes over them too. */
  #publicKey(): PublicKey | undefined {
    const text = this.#annotations[ANNOTATIONS.key]?.trim();
    if (text === undefined || text === "") return undefined;
    const key = parsePublicKey(text);
    if (key === undefined) this.#invalid(ANNOTATIONS.key, text);
    return key;
  }

  #podCIDRs(): Prefix[] {
    const { podCIDR, podCIDRs } = this.#node.spec ?? {};
    const first = podCIDR ?? podCIDRs?.[0];
    const texts = this.#isOurs ? new Set([first, ...(podCIDRs ?? [])]) : [first];
    return [...texts].map((text) => parsePrefix(text ?? "")).filter((prefix) => prefix !== undefined);
  }

  /** Presence counts for Kilo, whatever the value (report S-04). */
  #leader(): boolean {
    const text = this.#annotations[ANNOTATIONS.leader];
    if (text === undefined || !saysNo(text)) return text !== undefined;
    if (this.#isOurs) return false;
    this.#report("leader-false-counts", `annotation ${ANNOTATIONS.leader} is "${text}": remove it to say no`);
    return true;
  }

  #keepalive(): number {
    const text = this.#annotations[ANNOTATIONS.persistentKeepalive];
    if (text === undefined || text === "") return 0;
    const seconds = readKeepalive(text);
    if (seconds === undefined) this.#invalid(ANNOTATIONS.persistentKeepalive, text);
    return seconds ?? 0;
  }

  #discoveredEndpoints(): readonly DiscoveredEndpoint[] {
    const text = this.#annotations[ANNOTATIONS.discoveredEndpoints] ?? "";
    const endpoints = readDiscoveredEndpoints(text);
    if (endpoints === undefined) this.#invalid(ANNOTATIONS.discoveredEndpoints, text.slice(0, 80));
    return endpoints ?? [];
  }

  #allowedLocationIPs(): Prefix[] {
    const text = this.#annotations[ANNOTATIONS.allowedLocationIPs];
    if (text === undefined) return [];
    const { prefixes, invalid } = readPrefixList(text);
    for (const entry of invalid) this.#invalid(ANNOTATIONS.allowedLocationIPs, entry);
    return prefixes;
  }

  #invalid(annotation: string, text: string): void {
    this.#report("annotation-invalid", `cannot read annotation ${annotation}: "${text}"`);
  }

  #report(reason: ProblemReason, message: string): void {
    this.problems.push(nodeProblem(this.#node.metadata.name, reason, message));
  }
}
