/**
 * WireGuard's cross-platform userspace protocol (wireguard.com/xplatform) as text: what a `set` sends and what a `get` answers. Pure.
 *
 * Keys are hexadecimal here, base64 everywhere else. A request ends with an empty line, so does a reply.
 */
import { comparePrefixes, type Prefix, parsePrefix, uniquePrefixes } from "../../ip/index.ts";
import {
  type DeviceChange,
  type DeviceStatus,
  formatEndpoint,
  type PeerChange,
  type PeerStatus,
  type PublicKey,
  parseEndpoint,
  publicKeyFromBytes,
  publicKeyToBytes,
  SecretKey,
  type SocketEndpoint,
} from "../../wireguard/index.ts";
import { DeviceError } from "./errors.ts";

/** The request that reads a device. */
export const GET_REQUEST = "get=1\n\n";

const NO_KEY = "0".repeat(64);

/** The request that sends exactly this change. Holds secrets in clear: for the socket only. */
export function encodeSet(change: DeviceChange): string {
  const lines = ["set=1"];
  if (change.privateKey !== undefined) lines.push(`private_key=${hex(change.privateKey.reveal())}`);
  if (change.listenPort !== undefined) lines.push(`listen_port=${change.listenPort}`);
  for (const peer of change.peers) lines.push(...peerLines(peer));
  return `${lines.join("\n")}\n\n`;
}

/** Reads the reply of a `set`: 0 when it was done, else the positive errno. */
export function decodeSetReply(reply: string): number {
  const errno = /^errno=(-?\d{1,9})$/m.exec(reply)?.[1];
  if (errno === undefined) throw unreadable("no errno in the reply to a set");
  return Math.abs(Number(errno));
}

/** Reads the reply of a `get`. Keys that are not known are skipped, so that a newer device can be read; throws `DeviceError`. */
export function decodeGet(reply: string): DeviceStatus {
  const errno = decodeSetReply(reply);
  if (errno !== 0)
    throw new DeviceError("DEVICE_REFUSED", `cannot read the device (errno ${errno})`, { errno });
  const device: DeviceDraft = { privateKey: undefined, listenPort: 0 };
  const peers: PeerDraft[] = [];
  for (const line of reply.split("\n")) {
    const split = line.indexOf("=");
    if (split < 0) continue;
    const key = line.slice(0, split);
    const value = line.slice(split + 1);
    if (key === "public_key") peers.push(emptyPeer(readPublicKey(value)));
    else readField(key, value, device, peers.at(-1));
  }
  return { ...device, peers: peers.map(finishPeer) };
}

function peerLines(peer: PeerChange): string[] {
  const lines = [`public_key=${hex(publicKeyToBytes(peer.publicKey))}`];
  if (peer.kind === "remove") return [...lines, "remove=true"];
  if (peer.kind === "update") lines.push("update_only=true");
  if (peer.presharedKey !== undefined) {
    lines.push(`preshared_key=${peer.presharedKey === null ? NO_KEY : hex(peer.presharedKey.reveal())}`);
  }
  if (peer.endpoint !== undefined) lines.push(`endpoint=${formatEndpoint(peer.endpoint)}`);
  if (peer.persistentKeepalive !== undefined) {
    lines.push(`persistent_keepalive_interval=${peer.persistentKeepalive}`);
  }
  if (peer.allowedIPs !== undefined) {
    lines.push("replace_allowed_ips=true", ...peer.allowedIPs.map((prefix) => `allowed_ip=${prefix.text}`));
  }
  return lines;
}

interface DeviceDraft {
  privateKey: SecretKey | undefined;
  listenPort: number;
}

interface PeerDraft {
  publicKey: PublicKey;
  presharedKey: SecretKey | undefined;
  endpoint: SocketEndpoint | undefined;
  persistentKeepalive: number;
  latestHandshake: number;
  receivedBytes: number;
  sentBytes: number;
  allowedIPs: Prefix[];
}

function emptyPeer(publicKey: PublicKey): PeerDraft {
  return {
    publicKey,
    presharedKey: undefined,
    endpoint: undefined,
    persistentKeepalive: 0,
    latestHandshake: 0,
    receivedBytes: 0,
    sentBytes: 0,
    allowedIPs: [],
  };
}

function finishPeer(peer: PeerDraft): PeerStatus {
  return { ...peer, allowedIPs: uniquePrefixes(peer.allowedIPs).sort(comparePrefixes) };
}

/** A field before the first `public_key` is the device's, later ones are the last peer's. */
function readField(key: string, value: string, device: DeviceDraft, peer: PeerDraft | undefined): void {
  if (peer !== undefined) readPeerField(key, value, peer);
  else if (key === "private_key") device.privateKey = readSecretKey(value);
  else if (key === "listen_port") device.listenPort = readNumber(key, value);
}

function readPeerField(key: string, value: string, peer: PeerDraft): void {
  if (key === "preshared_key") peer.presharedKey = readSecretKey(value);
  else if (key === "endpoint") peer.endpoint = readEndpoint(value);
  else if (key === "persistent_keepalive_interval") peer.persistentKeepalive = readNumber(key, value);
  else if (key === "last_handshake_time_sec") peer.latestHandshake = readNumber(key, value);
  else if (key === "rx_bytes") peer.receivedBytes = readNumber(key, value);
  else if (key === "tx_bytes") peer.sentBytes = readNumber(key, value);
  else if (key === "allowed_ip") peer.allowedIPs.push(readPrefix(value));
}

/** An endpoint with a zone (`[fe80::1%eth0]:51820`) is one that only this host can use: read as none. */
function readEndpoint(value: string): SocketEndpoint | undefined {
  const endpoint = parseEndpoint(value);
  return endpoint?.kind === "address" ? endpoint : undefined;
}

function readPrefix(value: string): Prefix {
  const prefix = parsePrefix(value);
  if (prefix === undefined) throw unreadable("a bad allowed_ip");
  return prefix;
}

/** Secrets stay out of the messages: the name of the field is all that is told. */
function readSecretKey(value: string): SecretKey | undefined {
  const key = SecretKey.fromBytes(readHex(value));
  if (key === undefined) throw unreadable("a bad private or preshared key");
  return key.isZero() ? undefined : key;
}

function readPublicKey(value: string): PublicKey {
  const key = publicKeyFromBytes(readHex(value));
  if (key === undefined) throw unreadable("a bad public_key");
  return key;
}

function readHex(value: string): Uint8Array {
  return /^[0-9a-fA-F]{64}$/.test(value) ? Buffer.from(value, "hex") : new Uint8Array(0);
}

function readNumber(key: string, value: string): number {
  const number = Number(value);
  if (!/^\d{1,20}$/.test(value)) throw unreadable(`a bad ${key}`);
  return number;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function unreadable(what: string): DeviceError {
  return new DeviceError("DEVICE_REPLY", `cannot read the device's reply: ${what}`);
}
