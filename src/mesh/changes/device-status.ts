/** A plan that stands for a host. */
import type { DeviceConfig, DeviceStatus } from "../../wireguard/index.ts";

/** The device as a status. One that was planned, not read, has no handshakes and no traffic yet. */
export function statusOf(device: DeviceConfig | DeviceStatus): DeviceStatus {
  const noTraffic = { latestHandshake: 0, receivedBytes: 0, sentBytes: 0 };
  return { ...device, peers: device.peers.map((peer) => ({ ...noTraffic, ...peer })) };
}
