/** The WireGuard device of a host, whoever serves it: one driver over the kernel's module or over wireguard-go. */
import {
  applyDeviceChange,
  type DeviceChange,
  type DeviceStatus,
  EMPTY_DEVICE,
  isEmptyDeviceChange,
  type PublicKey,
  SecretKey,
} from "../../wireguard/index.ts";
import { InTurn } from "../in-turn.ts";
import type { DeviceDriver } from "../ports.ts";
import { requireTools } from "../tools.ts";
import { type DeviceBackend, kernelBackend, userspaceBackend } from "./backend.ts";
import { noKernel, notThere } from "./errors.ts";
import { announceChange, renewChange } from "./handshake.ts";
import { kernelHasWireguard } from "./kernel.ts";
import { assertPortFree } from "./port-probe.ts";
import { isServed, socketPath } from "./uapi-client.ts";

export interface DeviceOptions {
  /** Name of the link. */
  readonly name: string;
  /** `auto`: what serves the device now; else the kernel's module where there is one; else wireguard-go. @default "auto" */
  readonly mode?: "auto" | "kernel" | "userspace" | undefined;
  /**
   * Make the device when it is missing, and remove it in the end. False (`--create-interface=false`): it is somebody else's; it must exist,
   * and removal only takes away what kg put into it. @default true
   */
  readonly create?: boolean | undefined;
  /** Throw at once when this host cannot make the device. False: for clean-up, which makes none. @default true */
  readonly mustBeMakeable?: boolean | undefined;
  /** Told when the device cannot be read back (report K-23), and when a wireguard-go that hangs was replaced. @default nobody */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A device driver that can also make WireGuard call its peers. */
export interface WireguardDriver extends DeviceDriver {
  /**
   * Starts a handshake at once with those of these peers that never had one, without the 5 s that WireGuard waits between two calls: it
   * removes and re-adds them as they are. For when the link is up; not more often than an answer needs to come back: once a second is right.
   * Peers that the device does not have, or that have no endpoint, are left alone. Resolves to how many were called.
   */
  renew(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number>;
  /**
   * Sends a packet at once to each of these peers that has an endpoint, so that they learn where this host is now. Sessions live on.
   * Resolves to how many were sent to.
   */
  announce(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number>;
  /** Gives up sockets; the device stays as it is. Idempotent. */
  close(): void;
}

/**
 * Chooses by `mode` and makes the driver. Nothing on the host is changed. Throws `MissingToolError` without wireguard-go, `DeviceError`
 * `DEVICE_NO_KERNEL` for `kernel` without the module, unless the device is there already; AddonError in modes that need netlink.
 */
export async function createDeviceDriver(options: DeviceOptions): Promise<WireguardDriver> {
  const { name, onWarning } = options;
  const kind = await chooseKind(options);
  if (kind === "kernel") return new DriverOfDevice(options, kernelBackend(name));
  const onReplaced = (message: string): void => onWarning?.(message);
  const mayReplace = options.create ?? true;
  return new DriverOfDevice(options, userspaceBackend(name, mayReplace ? { onReplaced } : {}));
}

async function chooseKind(options: DeviceOptions): Promise<"kernel" | "userspace"> {
  const { name, mode = "auto", create = true, mustBeMakeable = true } = options;
  if (mode !== "kernel" && (await isServed(socketPath(name)))) return "userspace";
  const hasModule = mode !== "userspace" && kernelHasWireguard();
  const kind = mode === "auto" ? (hasModule ? "kernel" : "userspace") : mode;
  if (!create || !mustBeMakeable) return kind;
  if (kind === "userspace") requireTools(["wireguard-go"]);
  else if (!hasModule) throw noKernel(name);
  return kind;
}

/** The driver over any backend, for tests of what it adds to one. */
export function createDriverOver(options: DeviceOptions, backend: DeviceBackend): WireguardDriver {
  return new DriverOfDevice(options, backend);
}

/** Zeros take the key away. */
const NO_KEY = SecretKey.fromBytes(new Uint8Array(32));

/** As long as the backends themselves wait for an answer. */
const EMPTY_TIMEOUT_MS = 5_000;

class DriverOfDevice implements WireguardDriver {
  readonly kind: "kernel" | "userspace";
  readonly #name: string;
  readonly #backend: DeviceBackend;
  readonly #create: boolean;
  readonly #onWarning: (message: string) => void;
  /** A renewal writes what it has read: nothing may change in between. */
  readonly #turn = new InTurn();
  /** Whether what was set can be read: asked once, after the first peers were added. */
  #readback: "unknown" | "usable" | "unusable" = "unknown";
  /** What was applied, while it cannot be read. */
  #applied: DeviceStatus = EMPTY_DEVICE;

  constructor(options: DeviceOptions, backend: DeviceBackend) {
    this.kind = backend.kind;
    this.#name = options.name;
    this.#backend = backend;
    this.#create = options.create ?? true;
    this.#onWarning = options.onWarning ?? (() => undefined);
  }

  ensure(signal: AbortSignal): Promise<void> {
    return this.#turn.run(async () => {
      if (this.#create) return this.#backend.ensure(signal);
      if ((await this.#backend.read()) === undefined) throw notThere(this.#name, this.kind);
    }, signal);
  }

  read(): Promise<DeviceStatus | undefined> {
    return this.#turn.run(() => this.#read());
  }

  apply(change: DeviceChange, signal: AbortSignal): Promise<void> {
    return this.#turn.run(() => this.#apply(change, signal), signal);
  }

  remove(): Promise<readonly string[]> {
    return this.#turn.run(() => (this.#create ? this.#remove() : this.#empty()));
  }

  renew(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number> {
    return this.#turn.run(() => this.#renew(publicKeys, signal), signal);
  }

  announce(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number> {
    return this.#turn.run(() => this.#announce(publicKeys, signal), signal);
  }

  close(): void {
    this.#backend.close();
  }

  async #read(): Promise<DeviceStatus | undefined> {
    const seen = await this.#backend.read();
    if (seen === undefined) this.#forget();
    // A device that was made anew meanwhile has no key: what was applied to the old one does not count.
    if (seen?.privateKey === undefined || this.#readback !== "unusable") return seen;
    return this.#applied;
  }

  async #apply(change: DeviceChange, signal: AbortSignal): Promise<void> {
    if (isEmptyDeviceChange(change)) return;
    if (change.listenPort !== undefined) await this.#checkPort(change.listenPort);
    await this.#backend.set(change, signal);
    if (this.#readback === "usable") return;
    this.#applied = applyDeviceChange(this.#applied, change);
    if (this.#readback === "unknown") await this.#checkReadback(change);
  }

  async #remove(): Promise<readonly string[]> {
    const removed = await this.#backend.remove();
    this.#forget();
    return removed ? [`WireGuard link ${this.#name} (${this.kind})`] : [];
  }

  /** Leaves a device that kg did not make as it was made: without key and peers. */
  async #empty(): Promise<readonly string[]> {
    const device = await this.#backend.read();
    if (device === undefined) return [];
    if (device.privateKey === undefined && device.peers.length === 0) return [];
    const peers = device.peers.map(({ publicKey }) => ({ kind: "remove" as const, publicKey }));
    await this.#backend.set({ privateKey: NO_KEY, peers }, AbortSignal.timeout(EMPTY_TIMEOUT_MS));
    this.#forget();
    return [`key and peers of WireGuard link ${this.#name} (the link stays: kg did not make it)`];
  }

  async #renew(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number> {
    const device = await this.#read();
    // Without readback every peer seems to be without handshake: renewing them would end their sessions again and again.
    if (device === undefined || this.#readback === "unusable") return 0;
    const change = renewChange(device, publicKeys);
    if (change.peers.length > 0) await this.#backend.set(change, signal);
    return peersOf(change);
  }

  async #announce(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number> {
    const device = await this.#read();
    if (device === undefined) return 0;
    const change = announceChange(device, publicKeys);
    if (change.peers.length > 0) await this.#backend.set(change, signal);
    return peersOf(change);
  }

  /** The device itself may hold the port already. */
  async #checkPort(listenPort: number): Promise<void> {
    const device = await this.#backend.read();
    if (device !== undefined && device.listenPort !== listenPort)
      await assertPortFree(this.#name, listenPort);
  }

  async #checkReadback(change: DeviceChange): Promise<void> {
    const added = change.peers.filter((peer) => peer.kind === "add");
    if (added.length === 0) return;
    const seen = await this.#backend.read();
    if (seen === undefined) return;
    if (seen.peers.length > 0) {
      this.#readback = "usable";
      return;
    }
    this.#readback = "unusable";
    this.#onWarning(
      `cannot read back ${this.#name}: the device took ${added.length} peers and shows none; kg goes on with what it applied, without handshakes and learned endpoints`,
    );
  }

  #forget(): void {
    this.#readback = "unknown";
    this.#applied = EMPTY_DEVICE;
  }
}

function peersOf(change: DeviceChange): number {
  return new Set(change.peers.map((peer) => peer.publicKey)).size;
}
