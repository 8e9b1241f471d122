/** What the handshakes of the device say: who still has none, and which endpoints WireGuard learned by itself. */
import type { LearnedEndpoint } from "../mesh/index.ts";
import {
  type DeviceConfig,
  type DeviceStatus,
  type Endpoint,
  formatEndpoint,
  type PeerStatus,
  type PublicKey,
  sessionLives,
} from "../wireguard/index.ts";

/**
 * Peers that should talk and have no fresh handshake: those with a keepalive on either side, and those that were given an endpoint and
 * never answered. While there is one, the device is read every second.
 */
export function silentPeers(planned: DeviceConfig, seen: DeviceStatus, now: number): PublicKey[] {
  const status = new Map(seen.peers.map((peer) => [peer.publicKey, peer]));
  const silent: PublicKey[] = [];
  for (const peer of planned.peers) {
    const handshake = status.get(peer.publicKey)?.latestHandshake ?? 0;
    const fresh = sessionLives(handshake, now);
    const expected = peer.persistentKeepalive > 0 || (peer.endpoint !== undefined && handshake === 0);
    if (expected && !fresh) silent.push(peer.publicKey);
  }
  return silent;
}

/** Endpoints of sessions that live (report K-03), by key. */
export function learnedEndpoints(seen: DeviceStatus | undefined, now: number): LearnedEndpoint[] {
  return (seen?.peers ?? []).flatMap((peer) => learned(peer, now));
}

/** Where the planned peers are: what one look at the device showed. */
export type Whereabouts = ReadonlyMap<PublicKey, Whereabout>;

interface Whereabout {
  /** The endpoint of a session that lives; empty when there is none. */
  readonly at: string;
  /** The endpoint that the plan names; empty for none. */
  readonly planned: string;
}

/** Where they are now. */
export function whereabouts(planned: DeviceConfig, seen: DeviceStatus, now: number): Whereabouts {
  const learned = new Map(learnedEndpoints(seen, now).map((peer) => [peer.publicKey, peer.endpoint]));
  return new Map(
    planned.peers.map(({ publicKey, endpoint }) => {
      return [publicKey, { at: textOf(learned.get(publicKey)), planned: textOf(endpoint) }];
    }),
  );
}

/**
 * Whether an endpoint was learned, moved or lost. Handshake times alone are no news, nor is a living session whose endpoint became the
 * planned one because the plan changed: that was our own doing.
 */
export function hasNews(before: Whereabouts, after: Whereabouts): boolean {
  return [...after].some(([publicKey, { at, planned }]) => {
    const was = before.get(publicKey);
    if (at === (was?.at ?? "")) return false;
    const isOurs = was !== undefined && was.at !== "" && planned !== was.planned && at === planned;
    return !isOurs;
  });
}

function textOf(endpoint: Endpoint | undefined): string {
  return endpoint === undefined ? "" : formatEndpoint(endpoint);
}

function learned(peer: PeerStatus, now: number): LearnedEndpoint[] {
  const { publicKey, endpoint, latestHandshake } = peer;
  if (endpoint === undefined || !sessionLives(latestHandshake, now)) return [];
  return [{ publicKey, endpoint, latestHandshake }];
}
