/** Where a tunnel's far end is reached: announced or discovered (kilo.md §5.7, §5.8). */
import { isLocal } from "../../ip/index.ts";
import {
  type Endpoint,
  type PublicKey,
  type SocketEndpoint,
  sessionLives,
  socketEndpoint,
} from "../../wireguard/index.ts";
import type { DiscoveredEndpoint } from "../facts/discovered-endpoints.ts";
import type { LearnedEndpoint, Resolve } from "../options.ts";

/** What is known of endpoints besides what their owners announce. */
export class EndpointBook {
  readonly #discovered: ReadonlyMap<PublicKey, SocketEndpoint>;
  readonly #resolve: Resolve;

  constructor(discovered: ReadonlyMap<PublicKey, SocketEndpoint>, resolve: Resolve) {
    this.#discovered = discovered;
    this.#resolve = resolve;
  }

  /**
   * The endpoint to configure. A discovered one replaces the announced one of an owner with keepalive above 0, which says that its
   * endpoint may change, and stands in for one that nobody announces: a device that was made again calls who called it before (K-08).
   * Undefined: wait to be contacted. An address that no other host can reach is never used (report K-24).
   */
  effective(
    publicKey: PublicKey,
    announced: Endpoint | undefined,
    persistentKeepalive: number,
  ): SocketEndpoint | undefined {
    const discovered = this.#discovered.get(publicKey);
    const endpoint =
      persistentKeepalive > 0
        ? (discovered ?? this.resolved(announced))
        : (this.resolved(announced) ?? discovered);
    return endpoint === undefined || isLocal(endpoint.address) ? undefined : endpoint;
  }

  /** Whether somebody has heard of the owner of this key. */
  isDiscovered(publicKey: PublicKey): boolean {
    return this.#discovered.has(publicKey);
  }

  /** The announced endpoint with its name resolved; undefined while it cannot be. */
  resolved(announced: Endpoint | undefined): SocketEndpoint | undefined {
    if (announced === undefined || announced.kind === "address") return announced;
    const address = this.#resolve(announced.name)?.[0];
    return address && socketEndpoint(address, announced.port);
  }
}

/**
 * One map of what all devices have learned. What the own device hears right now comes first, then what others publish (in the given
 * order: segments, then names), then what the own device heard once: a new leader starts with the last good endpoint (report K-08).
 */
export function mergeDiscovered(
  own: readonly LearnedEndpoint[],
  published: readonly (readonly DiscoveredEndpoint[])[],
  now: number,
): Map<PublicKey, SocketEndpoint> {
  const remembered = own.filter((entry) => entry.latestHandshake > 0);
  const living = remembered.filter(({ latestHandshake }) => sessionLives(latestHandshake, now));
  const merged = new Map<PublicKey, SocketEndpoint>();
  for (const list of [living, ...published, remembered]) {
    for (const { publicKey, endpoint } of list) if (!merged.has(publicKey)) merged.set(publicKey, endpoint);
  }
  return merged;
}
