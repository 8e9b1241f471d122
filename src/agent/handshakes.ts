/** What the handshakes of the device say: who still has none, and which endpoints WireGuard learned by itself. */
import type { LearnedEndpoint } from "../mesh/index.ts";
import type { DeviceConfig, DeviceStatus, PeerStatus, PublicKey } from "../wireguard/index.ts";

/** WireGuard gives a session up after 180 s (REJECT_AFTER_TIME); a handshake older than that says nothing of the present. */
export const FRESH_SECONDS = 180;

/**
 * Peers that should talk and have no fresh handshake: those with a keepalive on either side, and those that were given an endpoint and
 * never answered. While there is one, the device is read every second.
 */
export function silentPeers(planned: DeviceConfig, seen: DeviceStatus, now: number): PublicKey[] {
  const status = new Map(seen.peers.map((peer) => [peer.publicKey, peer]));
  const silent: PublicKey[] = [];
  for (const peer of planned.peers) {
    const handshake = status.get(peer.publicKey)?.latestHandshake ?? 0;
    const fresh = handshake > 0 && now - handshake < FRESH_SECONDS;
    const expected = peer.persistentKeepalive > 0 || (peer.endpoint !== undefined && handshake === 0);
    if (expected && !fresh) silent.push(peer.publicKey);
  }
  return silent;
}

/** Endpoints with a handshake within the last 180 s (report K-03), by key. */
export function learnedEndpoints(seen: DeviceStatus | undefined, now: number): LearnedEndpoint[] {
  return (seen?.peers ?? []).flatMap((peer) => learned(peer, now));
}

/** A text that differs when an endpoint was learned, moved or lost; handshake times alone do not change it. */
export function endpointDigest(endpoints: readonly LearnedEndpoint[]): string {
  return endpoints
    .map(({ publicKey, endpoint }) => `${publicKey} ${endpoint.address.text} ${endpoint.port}`)
    .sort()
    .join("\n");
}

function learned(peer: PeerStatus, now: number): LearnedEndpoint[] {
  const { publicKey, endpoint, latestHandshake } = peer;
  if (endpoint === undefined || latestHandshake === 0 || now - latestHandshake >= FRESH_SECONDS) return [];
  return [{ publicKey, endpoint, latestHandshake }];
}
