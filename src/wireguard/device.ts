/** The device model: what a WireGuard device shall have, and what it was seen to have. */
import type { Prefix } from "../ip/index.ts";
import type { SocketEndpoint } from "./endpoint.ts";
import type { PublicKey, SecretKey } from "./key.ts";

/** A peer as it shall be. Peers of a device are unique by key, and no prefix stands on two of them. */
export interface PeerConfig {
  readonly publicKey: PublicKey;
  /** None: no preshared key. */
  readonly presharedKey?: SecretKey | undefined;
  /** Where to send the first handshake. None: wait to be contacted, keep whatever the device learned. */
  readonly endpoint?: SocketEndpoint | undefined;
  /** Sorted, without duplicates. Nested prefixes are allowed: the longest match wins. */
  readonly allowedIPs: readonly Prefix[];
  /** Seconds; 0 is off. */
  readonly persistentKeepalive: number;
}

/** A device as it shall be. */
export interface DeviceConfig {
  /** Undefined in a plan made without the node's own key, as `kg plan` prints: then the device's key is left alone. */
  readonly privateKey?: SecretKey | undefined;
  /** UDP port; 0 leaves the choice to the device. */
  readonly listenPort: number;
  readonly peers: readonly PeerConfig[];
}

/** What was read of a peer, with what WireGuard itself learned. */
export interface PeerStatus extends PeerConfig {
  /** Unix seconds of the last completed handshake; 0 if there was none. */
  readonly latestHandshake: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** What was read of a device. */
export interface DeviceStatus extends DeviceConfig {
  readonly peers: readonly PeerStatus[];
}

/** A device as it is made: no key, no port, no peers. */
export const EMPTY_DEVICE: DeviceStatus = { listenPort: 0, peers: [] };
