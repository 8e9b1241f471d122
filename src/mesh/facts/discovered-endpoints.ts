/** The `discovered-endpoints` annotation: where a node's device last heard from whom (kilo.md §2.1, §5.8). */
import { isLocal, parseAddress } from "../../ip/index.ts";
import {
  type PublicKey,
  parsePort,
  parsePublicKey,
  type SocketEndpoint,
  sessionLives,
  socketEndpoint,
} from "../../wireguard/index.ts";
import type { LearnedEndpoint } from "../options.ts";

export interface DiscoveredEndpoint {
  readonly publicKey: PublicKey;
  readonly endpoint: SocketEndpoint;
}

/**
 * Reads the annotation; undefined when it is not a JSON object. Entries that name no key or no address that others can reach are
 * passed over, so that one bad entry harms only itself. Sorted by key.
 */
export function readDiscoveredEndpoints(text: string): DiscoveredEndpoint[] | undefined {
  if (text === "" || text === "{}") return [];
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const found: DiscoveredEndpoint[] = [];
  for (const [keyText, entry] of Object.entries(value)) {
    const publicKey = parsePublicKey(keyText);
    const endpoint = readUdpAddress(entry);
    if (publicKey !== undefined && endpoint !== undefined) found.push({ publicKey, endpoint });
  }
  return found.sort(byKey);
}

/** The annotation's text, keys sorted, exactly as Kilo's agents write it. */
export function formatDiscoveredEndpoints(endpoints: readonly DiscoveredEndpoint[]): string {
  const entries = [...endpoints].sort(byKey).map(({ publicKey, endpoint }) => {
    return [publicKey, { IP: endpoint.address.text, Port: endpoint.port, Zone: "" }] as const;
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/**
 * An owner with keepalive sends at least that often. This many periods without a packet, and it is not where it was: it has another
 * address or port, or is off, long before WireGuard gives the session up. Two may be lost or late.
 */
const SILENT_PERIODS = 2.5;

/** Whether an owner with this keepalive (seconds, 0 for none) is heard at an endpoint now: its session lives, and it is not silent. */
export function isHeard(entry: LearnedEndpoint, persistentKeepalive: number, now: number): boolean {
  if (!sessionLives(entry.latestHandshake, now)) return false;
  if (persistentKeepalive === 0 || entry.heardAt === undefined) return true;
  return Math.abs(now - entry.heardAt) < SILENT_PERIODS * persistentKeepalive;
}

/**
 * What a host publishes: of the owners whose endpoint may change (`roaming`, with their keepalive; nobody uses others, report S-10) those
 * that it hears (report K-03). Sorted by key.
 */
export function publishableEndpoints(
  learned: readonly LearnedEndpoint[],
  roaming: ReadonlyMap<PublicKey, number>,
  now: number,
): DiscoveredEndpoint[] {
  return learned
    .filter((entry) => {
      const keepalive = roaming.get(entry.publicKey);
      return keepalive !== undefined && isHeard(entry, keepalive, now);
    })
    .map(({ publicKey, endpoint }) => ({ publicKey, endpoint }))
    .sort(byKey);
}

function readUdpAddress(value: unknown): SocketEndpoint | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { IP: ip, Port: port } = value as { IP?: unknown; Port?: unknown };
  const address = typeof ip === "string" ? parseAddress(ip) : undefined;
  if (address === undefined || isLocal(address)) return undefined;
  const validPort = parsePort(String(port));
  return validPort === undefined ? undefined : socketEndpoint(address, validPort);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function byKey(a: DiscoveredEndpoint, b: DiscoveredEndpoint): number {
  return a.publicKey < b.publicKey ? -1 : 1;
}
