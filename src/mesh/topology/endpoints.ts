/** Where a tunnel's far end is reached: announced or discovered (kilo.md §5.7, §5.8). */
import { type Address, type InterfaceAddress, isLocal, isPublic } from "../../ip/index.ts";
import {
  type Endpoint,
  type PublicKey,
  type SocketEndpoint,
  sessionLives,
  socketEndpoint,
} from "../../wireguard/index.ts";
import { type DiscoveredEndpoint, isHeard } from "../facts/discovered-endpoints.ts";
import type { LearnedEndpoint, Resolve } from "../options.ts";

/** What is known of endpoints. */
export interface EndpointSources {
  /** What the own device learned, however long ago. */
  readonly learned: readonly LearnedEndpoint[];
  /** What nodes publish, in the order in which they count: segments, then names. */
  readonly published: readonly (readonly DiscoveredEndpoint[])[];
  readonly resolve: Resolve;
  /** Unix seconds. */
  readonly now: number;
}

/** The far end of a tunnel, as it describes itself. */
export interface EndpointOwner {
  readonly publicKey: PublicKey;
  readonly announced: Endpoint | undefined;
  /** Above 0 says that the endpoint may change (kilo.md §5.8). */
  readonly persistentKeepalive: number;
  /** Its internal IPs; a Peer has none. */
  readonly internalIPs: readonly InterfaceAddress[];
}

/** Chooses endpoints. */
export class EndpointBook {
  /** Where this host has a session with a key's owner. */
  readonly #living: ReadonlyMap<PublicKey, LearnedEndpoint>;
  /** Where others hear it. */
  readonly #published: ReadonlyMap<PublicKey, SocketEndpoint>;
  /** Where this host heard it once. */
  readonly #remembered: ReadonlyMap<PublicKey, SocketEndpoint>;
  readonly #resolve: Resolve;
  readonly #now: number;

  constructor({ learned, published, resolve, now }: EndpointSources) {
    const living = learned.filter(({ latestHandshake }) => sessionLives(latestHandshake, now));
    this.#now = now;
    this.#living = new Map(living.map((entry) => [entry.publicKey, entry]));
    this.#published = firstOfEach(published);
    this.#remembered = firstOfEach([learned.filter(({ latestHandshake }) => latestHandshake > 0)]);
    this.#resolve = resolve;
  }

  /**
   * The endpoint to configure; undefined: wait to be contacted. An address that no other host can reach is never used (report K-24).
   *
   * Of an owner with keepalive above 0 where it is heard now: by this host, else by who publishes it; where nobody hears it, stay with the
   * session while it lives. Then what it announces, so that a changed one is followed as soon as the session is dead (report K-13). Then where this host heard it once: a device that was made
   * again calls who called it before (report K-08). That comes before an announced address which only the owner's own network reaches.
   * Of an owner without keepalive what it announces comes first: it says that it stays there.
   */
  effective(owner: EndpointOwner): SocketEndpoint | undefined {
    const announced = this.#resolved(owner.announced);
    const heard = this.#heard(owner);
    const remembered = this.#remembered.get(owner.publicKey);
    const known = isBehindNat(owner) ? (remembered ?? announced) : (announced ?? remembered);
    const endpoint = owner.persistentKeepalive > 0 ? (heard ?? known) : (announced ?? heard ?? remembered);
    return endpoint === undefined || isLocal(endpoint.address) ? undefined : endpoint;
  }

  /** Whether somebody hears, or this host has heard, the owner of this key. */
  isDiscovered(publicKey: PublicKey): boolean {
    return this.#published.has(publicKey) || this.#remembered.has(publicKey);
  }

  #heard({ publicKey, persistentKeepalive }: EndpointOwner): SocketEndpoint | undefined {
    const own = this.#living.get(publicKey);
    if (own !== undefined && isHeard(own, persistentKeepalive, this.#now)) return own.endpoint;
    return this.#published.get(publicKey) ?? own?.endpoint;
  }

  /** The announced endpoint with its name resolved; undefined while it cannot be. */
  #resolved(announced: Endpoint | undefined): SocketEndpoint | undefined {
    if (announced === undefined || announced.kind === "address") return announced;
    const address = this.#resolve(announced.name)?.[0];
    return address && socketEndpoint(address, announced.port);
  }
}

/**
 * Whether an owner with keepalive above 0 announces its internal IP, and that is not public: an agent behind NAT that finds no better
 * address does, and only its own network reaches it there. A forced address or a name is meant as it is written.
 */
export function isBehindNat({
  announced,
  persistentKeepalive,
  internalIPs,
}: Omit<EndpointOwner, "publicKey">): boolean {
  if (persistentKeepalive === 0 || announced?.kind !== "address") return false;
  return !isPublic(announced.address) && isOneOf(internalIPs, announced.address);
}

function isOneOf(internalIPs: readonly InterfaceAddress[], wanted: Address): boolean {
  return internalIPs.some(({ address }) => address.text === wanted.text);
}

function firstOfEach(lists: readonly (readonly DiscoveredEndpoint[])[]): Map<PublicKey, SocketEndpoint> {
  const first = new Map<PublicKey, SocketEndpoint>();
  for (const { publicKey, endpoint } of lists.flat()) {
    if (!first.has(publicKey)) first.set(publicKey, endpoint);
  }
  return first;
}
