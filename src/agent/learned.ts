/**
 * The endpoints that the device learned, also after the device is gone: a device that is made again (its process was killed, its link
 * deleted) starts with them, else peers that have no endpoint of their own would have to call first, which takes up to 15 s.
 */
import type { LearnedEndpoint } from "../mesh/index.ts";
import type { DeviceConfig, DeviceStatus, PublicKey } from "../wireguard/index.ts";

interface Known extends LearnedEndpoint {
  readonly receivedBytes: number;
}

export class LearnedEndpoints {
  readonly #known = new Map<PublicKey, Known>();

  /** Takes in what was read of the device at `now` (Unix seconds); peers without a handshake say nothing new. */
  saw(device: DeviceStatus | undefined, now: number): void {
    for (const { publicKey, endpoint, latestHandshake, receivedBytes } of device?.peers ?? []) {
      if (endpoint === undefined || latestHandshake === 0) continue;
      const before = this.#known.get(publicKey);
      // A device that was made again counts from 0.
      const heardAt = receivedBytes === before?.receivedBytes ? before.heardAt : now;
      this.#known.set(publicKey, { publicKey, endpoint, latestHandshake, receivedBytes, heardAt });
    }
  }

  /** Forgets peers that the device shall not have any more: what is kept is bounded by the mesh. */
  retain(planned: DeviceConfig): void {
    const wanted = new Set(planned.peers.map(({ publicKey }) => publicKey));
    for (const publicKey of this.#known.keys()) if (!wanted.has(publicKey)) this.#known.delete(publicKey);
  }

  /** With the time of each one's last handshake, however long ago. */
  list(): LearnedEndpoint[] {
    return [...this.#known.values()].map(({ receivedBytes: _, ...learned }) => learned);
  }
}
