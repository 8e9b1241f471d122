/**
 * The endpoints that the device learned, also after the device is gone: a device that is made again (its process was killed, its link
 * deleted) starts with them, else peers that have no endpoint of their own would have to call first, which takes up to 15 s.
 */
import type { LearnedEndpoint } from "../mesh/index.ts";
import type { DeviceConfig, DeviceStatus, PublicKey } from "../wireguard/index.ts";

export class LearnedEndpoints {
  readonly #known = new Map<PublicKey, LearnedEndpoint>();

  /** Takes in what was read of the device; peers without a handshake say nothing new. */
  saw(device: DeviceStatus | undefined): void {
    for (const { publicKey, endpoint, latestHandshake } of device?.peers ?? []) {
      if (endpoint === undefined || latestHandshake === 0) continue;
      this.#known.set(publicKey, { publicKey, endpoint, latestHandshake });
    }
  }

  /** Forgets peers that the device shall not have any more: what is kept is bounded by the mesh. */
  retain(planned: DeviceConfig): void {
    const wanted = new Set(planned.peers.map(({ publicKey }) => publicKey));
    for (const publicKey of this.#known.keys()) if (!wanted.has(publicKey)) this.#known.delete(publicKey);
  }

  /** With the time of each one's last handshake, however long ago. */
  list(): LearnedEndpoint[] {
    return [...this.#known.values()];
  }
}
