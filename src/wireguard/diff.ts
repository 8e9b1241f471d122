/** The smallest change that makes a device what it shall be, without harm to any session that lives. */
import { comparePrefixes, type Prefix } from "../ip/index.ts";
import type { DeviceChange, PeerChange, PeerRemoval, PeerSetting } from "./changes.ts";
import {
  type DeviceConfig,
  type DeviceStatus,
  EMPTY_DEVICE,
  type PeerConfig,
  type PeerStatus,
} from "./device.ts";
import { sameEndpoint } from "./endpoint.ts";
import { type PublicKey, type SecretKey, someKey } from "./key.ts";
import { gainersFirst } from "./move-order.ts";
import { sessionLives } from "./session.ts";

/** What tells a living session from a dead one, and a new wish from an old one. */
export interface DiffContext {
  /** Unix seconds, of the clock that the device's handshakes are told in. */
  readonly now: number;
  /** The configuration that was applied before; undefined after a start. */
  readonly previous?: DeviceConfig | undefined;
}

/**
 * What has to be sent so that `actual` becomes `wanted`; undefined `actual` is a device just made.
 *
 * - Only peers that differ are named, with only the fields that differ; all fields of all peers are compared (report S-01), allowed
 *   IPs as sets (S-02), private keys as WireGuard clamps them. Applied once, the next change is empty.
 * - The endpoint of a living session is the device's own (K-01): see `endpointToWrite`.
 * - A prefix that moves from one peer to another has an owner all the time: the peer that gains it comes before the one that loses it,
 *   removals come last, and a peer that only loses what another takes is not named at all. When peers swap prefixes in a ring, the first
 *   of them holds on to what is taken from it later in the same change.
 *
 * Expects what `DeviceConfig` promises: peers unique by key, no prefix on two of them.
 */
export function diffDevice(
  wanted: DeviceConfig,
  actual: DeviceStatus | undefined,
  context: DiffContext,
): DeviceChange {
  const device = actual ?? EMPTY_DEVICE;
  const change: Writable<DeviceChange> = { peers: diffPeers(wanted, device, context) };
  const privateKey = someKey(wanted.privateKey);
  if (privateKey !== undefined && !samePrivateKey(privateKey, device.privateKey))
    change.privateKey = privateKey;
  if (wanted.listenPort !== 0 && wanted.listenPort !== device.listenPort) {
    change.listenPort = wanted.listenPort;
  }
  return change;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

function diffPeers(wanted: DeviceConfig, device: DeviceStatus, context: DiffContext): PeerChange[] {
  const present = byKey(device.peers);
  const previous = byKey(context.previous?.peers ?? []);
  const owners = ownersOf(wanted.peers);
  const settings: PeerSetting[] = [];
  for (const peer of wanted.peers) {
    const status = present.get(peer.publicKey);
    const setting =
      status === undefined
        ? addition(peer)
        : update(peer, status, previous.get(peer.publicKey), owners, context.now);
    if (setting !== undefined) settings.push(setting);
  }
  const kept = byKey(wanted.peers);
  const removals = device.peers
    .filter((peer) => !kept.has(peer.publicKey))
    .map((peer): PeerRemoval => ({ kind: "remove", publicKey: peer.publicKey }));
  return [...withoutGaps(settings, present, owners), ...removals];
}

function addition(wanted: PeerConfig): PeerSetting {
  const setting: Writable<PeerSetting> = {
    kind: "add",
    publicKey: wanted.publicKey,
    allowedIPs: wanted.allowedIPs,
    persistentKeepalive: wanted.persistentKeepalive,
  };
  const presharedKey = someKey(wanted.presharedKey);
  if (presharedKey !== undefined) setting.presharedKey = presharedKey;
  if (wanted.endpoint !== undefined) setting.endpoint = wanted.endpoint;
  return setting;
}

/** Undefined when the peer is what it shall be. */
function update(
  wanted: PeerConfig,
  status: PeerStatus,
  previous: PeerConfig | undefined,
  owners: ReadonlyMap<string, PublicKey>,
  now: number,
): PeerSetting | undefined {
  const setting: Writable<PeerSetting> = { kind: "update", publicKey: wanted.publicKey };
  const presharedKey = someKey(wanted.presharedKey);
  const endpoint = endpointToWrite(wanted, status, previous, now);
  if (!sameSecret(presharedKey, someKey(status.presharedKey))) setting.presharedKey = presharedKey ?? null;
  if (endpoint !== undefined) setting.endpoint = endpoint;
  if (mustReplaceList(wanted, status, owners)) setting.allowedIPs = wanted.allowedIPs;
  if (wanted.persistentKeepalive !== status.persistentKeepalive) {
    setting.persistentKeepalive = wanted.persistentKeepalive;
  }
  return Object.keys(setting).length > 2 ? setting : undefined;
}

/**
 * The endpoint to write to a peer that exists; undefined leaves the device's alone. It is written when it differs and
 * the device has none, or the wish itself changed since the last configuration, or no session lives that could have learned a better one.
 * A peer that the last configuration did not have says nothing about a changed wish.
 */
function endpointToWrite(
  wanted: PeerConfig,
  status: PeerStatus,
  previous: PeerConfig | undefined,
  now: number,
): PeerConfig["endpoint"] {
  if (wanted.endpoint === undefined || sameEndpoint(wanted.endpoint, status.endpoint)) return undefined;
  const wishChanged = previous !== undefined && !sameEndpoint(wanted.endpoint, previous.endpoint);
  const leaveAlone =
    status.endpoint !== undefined && !wishChanged && sessionLives(status.latestHandshake, now);
  return leaveAlone ? undefined : wanted.endpoint;
}

/** Whether a peer's list must be written: it lacks a prefix, or has one that no peer takes from it. */
function mustReplaceList(
  wanted: PeerConfig,
  status: PeerStatus,
  owners: ReadonlyMap<string, PublicKey>,
): boolean {
  const held = new Set(status.allowedIPs.map((prefix) => prefix.text));
  return (
    wanted.allowedIPs.some((prefix) => !held.has(prefix.text)) ||
    status.allowedIPs.some((prefix) => !owners.has(prefix.text))
  );
}

/** Puts settings in an order, and lists in a form, in which no prefix that is wanted and was held is ever without a peer. */
function withoutGaps(
  settings: readonly PeerSetting[],
  present: ReadonlyMap<PublicKey, PeerStatus>,
  owners: ReadonlyMap<string, PublicKey>,
): PeerSetting[] {
  const lostBy = (peer: PublicKey): readonly Prefix[] =>
    (present.get(peer)?.allowedIPs ?? []).filter((prefix) => {
      const owner = owners.get(prefix.text);
      return owner !== undefined && owner !== peer;
    });
  const settled = new Set<PublicKey>();
  return gainersFirst(settings, lostBy, owners).map((setting) => {
    settled.add(setting.publicKey);
    if (setting.allowedIPs === undefined) return setting;
    const takenLater = lostBy(setting.publicKey).filter((prefix) => {
      const owner = owners.get(prefix.text);
      return owner !== undefined && !settled.has(owner);
    });
    if (takenLater.length === 0) return setting;
    return { ...setting, allowedIPs: [...setting.allowedIPs, ...takenLater].sort(comparePrefixes) };
  });
}

function byKey<Peer extends PeerConfig>(peers: readonly Peer[]): Map<PublicKey, Peer> {
  return new Map(peers.map((peer) => [peer.publicKey, peer]));
}

function ownersOf(peers: readonly PeerConfig[]): Map<string, PublicKey> {
  const owners = new Map<string, PublicKey>();
  for (const peer of peers) for (const prefix of peer.allowedIPs) owners.set(prefix.text, peer.publicKey);
  return owners;
}

function sameSecret(a: SecretKey | undefined, b: SecretKey | undefined): boolean {
  return a === undefined ? b === undefined : a.equals(b);
}

function samePrivateKey(wanted: SecretKey, actual: SecretKey | undefined): boolean {
  return wanted.clamped().equals(someKey(actual)?.clamped());
}
