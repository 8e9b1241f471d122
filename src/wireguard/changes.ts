/** What has to be sent to a device: always per peer, so that no other peer's session is touched (promise 2). */
import type { Prefix } from "../ip/index.ts";
import type { SocketEndpoint } from "./endpoint.ts";
import type { PublicKey, SecretKey } from "./key.ts";

/** One peer's part of a change. */
export type PeerChange = PeerRemoval | PeerSetting;

export interface PeerRemoval {
  readonly kind: "remove";
  readonly publicKey: PublicKey;
}

/** Fields that are absent stay as they are on the device. */
export interface PeerSetting {
  /** `add` makes a peer; `update` must not make one when it has vanished meanwhile (UPDATE_ONLY). */
  readonly kind: "add" | "update";
  readonly publicKey: PublicKey;
  /** `null` removes the preshared key. */
  readonly presharedKey?: SecretKey | null | undefined;
  readonly endpoint?: SocketEndpoint | undefined;
  /** Replaces the whole list of this peer. What stood on another peer leaves that one (cryptokey routing). */
  readonly allowedIPs?: readonly Prefix[] | undefined;
  /** Seconds; 0 is off. */
  readonly persistentKeepalive?: number | undefined;
}

/** The changes of one device, in the order in which they must be applied. */
export interface DeviceChange {
  readonly privateKey?: SecretKey | undefined;
  readonly listenPort?: number | undefined;
  readonly peers: readonly PeerChange[];
}

/** Whether there is nothing to send. */
export function isEmptyDeviceChange(change: DeviceChange): boolean {
  return change.privateKey === undefined && change.listenPort === undefined && change.peers.length === 0;
}
