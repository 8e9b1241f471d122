/**
 * Messages of the kernel's generic netlink family `wireguard`, version 1 (linux/wireguard.h). Pure: bytes in, bytes out.
 *
 * A payload is what follows the netlink header: command, version, two zero bytes, attributes.
 */
import {
  addressFromBytes,
  addressToBytes,
  comparePrefixes,
  makePrefix,
  type Prefix,
  uniquePrefixes,
} from "../../ip/index.ts";
import {
  type DeviceChange,
  type DeviceStatus,
  type PeerChange,
  type PeerStatus,
  type PublicKey,
  publicKeyFromBytes,
  publicKeyToBytes,
  SecretKey,
  type SocketEndpoint,
  socketEndpoint,
} from "../../wireguard/index.ts";
import { ByteWriter, listAttributes, readAttributes, readU16, readU64 } from "../netlink/index.ts";

export const FAMILY_NAME = "wireguard";

/** Asks for a dump: the device, in as many parts as it needs. */
export function encodeGet(name: string): Uint8Array {
  return header(CMD_GET_DEVICE).attributeText(DEVICE_IFNAME, name).finish();
}

/**
 * A change as payloads to be sent one after the other. A change that is larger than one message is split between peers, and a peer between
 * allowed IPs; the parts after the first only append (UPDATE_ONLY, no REPLACE_ALLOWEDIPS).
 */
export function encodeSet(name: string, change: DeviceChange): Uint8Array[] {
  const pieces = change.peers.flatMap(peerPieces);
  const payloads: Uint8Array[] = [];
  for (const [index, group] of groupBySize(pieces).entries()) {
    const writer = header(CMD_SET_DEVICE).attributeText(DEVICE_IFNAME, name);
    if (index === 0) writeDevice(writer, change);
    if (group.length > 0) {
      writer.nested(DEVICE_PEERS, (into) => {
        for (const piece of group) into.attribute(NESTED_ENTRY | NESTED, piece);
      });
    }
    payloads.push(writer.finish());
  }
  return payloads;
}

/** Puts the parts of a dump together. A peer that goes on in the next part has its key repeated there. Attributes that make no sense are skipped. */
export function decodeDevice(payloads: readonly Uint8Array[]): DeviceStatus {
  let privateKey: SecretKey | undefined;
  let listenPort = 0;
  const peers = new Map<PublicKey, PeerStatus>();
  for (const payload of payloads) {
    const attributes = readAttributes(payload.subarray(GENERIC_HEADER));
    privateKey = readSecret(attributes.get(DEVICE_PRIVATE_KEY)) ?? privateKey;
    listenPort = readU16(attributes.get(DEVICE_LISTEN_PORT)) ?? listenPort;
    for (const entry of listAttributes(attributes.get(DEVICE_PEERS) ?? EMPTY)) mergePeer(peers, entry.data);
  }
  return { privateKey, listenPort, peers: [...peers.values()] };
}

const CMD_GET_DEVICE = 0;
const CMD_SET_DEVICE = 1;
const FAMILY_VERSION = 1;
const GENERIC_HEADER = 4;

const DEVICE_IFNAME = 2;
const DEVICE_PRIVATE_KEY = 3;
const DEVICE_LISTEN_PORT = 6;
const DEVICE_PEERS = 8;

const PEER_PUBLIC_KEY = 1;
const PEER_PRESHARED_KEY = 2;
const PEER_FLAGS = 3;
const PEER_ENDPOINT = 4;
const PEER_KEEPALIVE = 5;
const PEER_HANDSHAKE = 6;
const PEER_RECEIVED = 7;
const PEER_SENT = 8;
const PEER_ALLOWED_IPS = 9;

const REMOVE_ME = 1;
const REPLACE_ALLOWED_IPS = 2;
const UPDATE_ONLY = 4;

const ALLOWED_FAMILY = 1;
const ALLOWED_ADDRESS = 2;
const ALLOWED_LENGTH = 3;

/** Entries of a list carry no meaning in their type. */
const NESTED_ENTRY = 0;

/** NLA_F_NESTED: kernels since 5.2 refuse a nested attribute without it. */
const NESTED = 0x8000;

const AF_INET = 2;
const AF_INET6 = 10;
const NO_KEY = new Uint8Array(32);
const EMPTY = new Uint8Array(0);

/** A message may be 32 KiB and a nested attribute 64 KiB; `wg` stays below one page or two, and so do we. */
const LARGEST_GROUP = 7_000;

/** So many allowed IPs (at most 48 bytes each) and a peer's fixed part fit one group. */
const ALLOWED_PER_PIECE = 120;

function header(command: number): ByteWriter {
  return new ByteWriter().u8(command).u8(FAMILY_VERSION).u16(0);
}

function writeDevice(writer: ByteWriter, change: DeviceChange): void {
  if (change.privateKey !== undefined) writer.attribute(DEVICE_PRIVATE_KEY, change.privateKey.reveal());
  if (change.listenPort !== undefined) writer.attributeU16(DEVICE_LISTEN_PORT, change.listenPort);
}

/** One entry of the peer list, or several when the peer has many allowed IPs. */
function peerPieces(peer: PeerChange): Uint8Array[] {
  if (peer.kind === "remove") return [peerPiece(peer.publicKey, REMOVE_ME, () => undefined)];
  const allowed = peer.allowedIPs ?? [];
  const flags =
    (peer.kind === "update" ? UPDATE_ONLY : 0) | (peer.allowedIPs === undefined ? 0 : REPLACE_ALLOWED_IPS);
  const first = peerPiece(peer.publicKey, flags, (writer) => {
    if (peer.presharedKey !== undefined)
      writer.attribute(PEER_PRESHARED_KEY, peer.presharedKey?.reveal() ?? NO_KEY);
    if (peer.endpoint !== undefined) writer.attribute(PEER_ENDPOINT, socketAddress(peer.endpoint));
    if (peer.persistentKeepalive !== undefined) writer.attributeU16(PEER_KEEPALIVE, peer.persistentKeepalive);
    writeAllowed(writer, allowed.slice(0, ALLOWED_PER_PIECE));
  });
  const pieces = [first];
  for (let at = ALLOWED_PER_PIECE; at < allowed.length; at += ALLOWED_PER_PIECE) {
    pieces.push(
      peerPiece(peer.publicKey, UPDATE_ONLY, (writer) =>
        writeAllowed(writer, allowed.slice(at, at + ALLOWED_PER_PIECE)),
      ),
    );
  }
  return pieces;
}

function peerPiece(publicKey: PublicKey, flags: number, write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter().attribute(PEER_PUBLIC_KEY, publicKeyToBytes(publicKey));
  if (flags !== 0) writer.attributeU32(PEER_FLAGS, flags);
  write(writer);
  return writer.finish();
}

function writeAllowed(writer: ByteWriter, prefixes: readonly Prefix[]): void {
  if (prefixes.length === 0) return;
  writer.nested(PEER_ALLOWED_IPS, (list) => {
    for (const prefix of prefixes) {
      list.nested(NESTED_ENTRY, (entry) => {
        entry.attributeU16(ALLOWED_FAMILY, prefix.family === 4 ? AF_INET : AF_INET6);
        entry.attribute(ALLOWED_ADDRESS, addressToBytes(prefix.base));
        entry.attributeU8(ALLOWED_LENGTH, prefix.length);
      });
    }
  });
}

/** Always at least one group, so that a change without peers is one message. */
function groupBySize(pieces: readonly Uint8Array[]): Uint8Array[][] {
  const groups: Uint8Array[][] = [[]];
  let size = 0;
  for (const piece of pieces) {
    if (size > 0 && size + piece.length > LARGEST_GROUP) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(piece);
    size += piece.length;
  }
  return groups;
}

/** struct sockaddr_in or sockaddr_in6: family in host order, port in network order. */
function socketAddress(endpoint: SocketEndpoint): Uint8Array {
  const bytes = addressToBytes(endpoint.address);
  const writer = new ByteWriter()
    .u16(endpoint.address.family === 4 ? AF_INET : AF_INET6)
    .u16be(endpoint.port);
  if (endpoint.address.family === 4) return writer.raw(bytes).u32(0).u32(0).finish();
  return writer.u32(0).raw(bytes).u32(0).finish();
}

function mergePeer(peers: Map<PublicKey, PeerStatus>, bytes: Uint8Array): void {
  const attributes = readAttributes(bytes);
  const publicKey = publicKeyFromBytes(attributes.get(PEER_PUBLIC_KEY) ?? EMPTY);
  if (publicKey === undefined) return;
  const allowed = readAllowed(attributes.get(PEER_ALLOWED_IPS));
  const known = peers.get(publicKey);
  const peer = known ?? readPeer(publicKey, attributes);
  const allowedIPs = uniquePrefixes([...peer.allowedIPs, ...allowed]).sort(comparePrefixes);
  peers.set(publicKey, { ...peer, allowedIPs });
}

function readPeer(publicKey: PublicKey, attributes: Map<number, Uint8Array>): PeerStatus {
  return {
    publicKey,
    presharedKey: readSecret(attributes.get(PEER_PRESHARED_KEY)),
    endpoint: readSocketAddress(attributes.get(PEER_ENDPOINT)),
    allowedIPs: [],
    persistentKeepalive: readU16(attributes.get(PEER_KEEPALIVE)) ?? 0,
    latestHandshake: Number(readU64(attributes.get(PEER_HANDSHAKE)) ?? 0n),
    receivedBytes: Number(readU64(attributes.get(PEER_RECEIVED)) ?? 0n),
    sentBytes: Number(readU64(attributes.get(PEER_SENT)) ?? 0n),
  };
}

function readAllowed(bytes: Uint8Array | undefined): Prefix[] {
  const prefixes: Prefix[] = [];
  for (const entry of listAttributes(bytes ?? EMPTY)) {
    const attributes = readAttributes(entry.data);
    const address = addressFromBytes(attributes.get(ALLOWED_ADDRESS) ?? EMPTY);
    const length = attributes.get(ALLOWED_LENGTH)?.[0];
    if (address === undefined || length === undefined) continue;
    if (length <= (address.family === 4 ? 32 : 128)) prefixes.push(makePrefix(address, length));
  }
  return prefixes;
}

/** An endpoint with a scope is a link-local one, and a port of 0 none at all. */
function readSocketAddress(bytes: Uint8Array | undefined): SocketEndpoint | undefined {
  const family = readU16(bytes);
  if (bytes === undefined || bytes.length < 8) return undefined;
  const port = new DataView(bytes.buffer, bytes.byteOffset).getUint16(2);
  const raw = family === AF_INET ? bytes.subarray(4, 8) : family === AF_INET6 ? bytes.subarray(8, 24) : EMPTY;
  const address = addressFromBytes(raw);
  return address === undefined || port === 0 ? undefined : socketEndpoint(address, port);
}

/** 32 zero bytes are the kernel's way to say "none". */
function readSecret(bytes: Uint8Array | undefined): SecretKey | undefined {
  const key = SecretKey.fromBytes(bytes ?? EMPTY);
  return key === undefined || key.isZero() ? undefined : key;
}
