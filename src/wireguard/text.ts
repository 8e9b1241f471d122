/** WireGuard's own text form (INI), as `wg setconf`, wg-quick and its apps read it, and as Kilo's `showconf` writes it. */
import type { InterfaceAddress } from "../ip/index.ts";
import type { DeviceConfig, PeerConfig } from "./device.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { type SecretKey, someKey } from "./key.ts";

/** A peer to write down. Unlike a device's, its endpoint may be a name, which is then written as it is. */
export interface PeerText extends Omit<PeerConfig, "endpoint"> {
  readonly endpoint?: Endpoint | undefined;
}

/** A configuration to write down; every `DeviceConfig` is one. */
export interface ConfigText extends Omit<DeviceConfig, "peers"> {
  readonly peers: readonly PeerText[];
}

export interface RenderOptions {
  /** Write the `[Interface]` section. `kgctl showconf peer` has none. @default true */
  readonly interface?: boolean | undefined;
  /** Write the private key, in clear. @default false: no line */
  readonly revealPrivateKey?: boolean | undefined;
  /** Write preshared keys, in clear. @default false: a comment says that there is one */
  readonly revealPresharedKeys?: boolean | undefined;
  /** Lines that only wg-quick and WireGuard's apps understand; `wg setconf` refuses them. @default none */
  readonly quick?: QuickText | undefined;
}

/** What wg-quick sets up beside the device. */
export interface QuickText {
  readonly addresses: readonly InterfaceAddress[];
  /** Bytes. @default wg-quick's own choice */
  readonly mtu?: number | undefined;
}

/**
 * The text of a configuration: kilo.md §10.2, "INI renderer". Sections are apart by one blank line, the text ends with a line break
 * (empty without any section), allowed IPs and peers stand in the order given, keepalive is always written, in seconds (report K-19).
 */
export function renderConfig(config: ConfigText, options: RenderOptions = {}): string {
  const sections = config.peers.map((peer) => peerLines(peer, options));
  if (options.interface !== false) sections.unshift(interfaceLines(config, options));
  return sections.map((lines) => `${lines.join("\n")}\n`).join("\n");
}

function interfaceLines(config: ConfigText, options: RenderOptions): string[] {
  const lines = ["[Interface]"];
  const privateKey = options.revealPrivateKey === true ? someKey(config.privateKey) : undefined;
  if (privateKey !== undefined) lines.push(`PrivateKey = ${privateKey.revealText()}`);
  lines.push(`ListenPort = ${config.listenPort}`);
  if (options.quick !== undefined) lines.push(...quickLines(options.quick));
  return lines;
}

function quickLines(quick: QuickText): string[] {
  const lines: string[] = [];
  if (quick.addresses.length > 0) {
    lines.push(`Address = ${quick.addresses.map((address) => address.text).join(", ")}`);
  }
  if (quick.mtu !== undefined) lines.push(`MTU = ${quick.mtu}`);
  return lines;
}

function peerLines(peer: PeerText, options: RenderOptions): string[] {
  const lines = ["[Peer]"];
  if (peer.allowedIPs.length > 0) {
    lines.push(`AllowedIPs = ${peer.allowedIPs.map((prefix) => prefix.text).join(", ")}`);
  }
  if (peer.endpoint !== undefined) lines.push(`Endpoint = ${formatEndpoint(peer.endpoint)}`);
  lines.push(`PersistentKeepalive = ${peer.persistentKeepalive}`);
  const presharedKey = someKey(peer.presharedKey);
  if (presharedKey !== undefined) lines.push(presharedKeyLine(presharedKey, options));
  lines.push(`PublicKey = ${peer.publicKey}`);
  return lines;
}

function presharedKeyLine(key: SecretKey, options: RenderOptions): string {
  return options.revealPresharedKeys === true
    ? `PresharedKey = ${key.revealText()}`
    : `# PresharedKey = ${key}`;
}
