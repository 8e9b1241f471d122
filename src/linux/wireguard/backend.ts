/** The two ways to serve a WireGuard device, as one interface. */
import type { DeviceChange, DeviceStatus } from "../../wireguard/index.ts";
import { HungWatch } from "./hung.ts";
import { KernelDevice } from "./kernel.ts";
import { readUserspace, setUserspace, socketPath } from "./uapi-client.ts";
import { startUserspace, stopUserspace } from "./userspace.ts";

/** One way to serve a device. */
export interface DeviceBackend {
  readonly kind: "kernel" | "userspace";
  ensure(signal: AbortSignal): Promise<void>;
  read(): Promise<DeviceStatus | undefined>;
  set(change: DeviceChange, signal: AbortSignal): Promise<void>;
  /** Resolves to whether there was something to remove. */
  remove(): Promise<boolean>;
  close(): void;
}

export interface UserspaceBackendOptions {
  /** A process that does not answer is ended, so that it is made again; told to this. Undefined: it is left. */
  readonly onReplaced?: ((message: string) => void) | undefined;
  /** How long to wait for an answer to a read, in milliseconds. @default 5000 */
  readonly readTimeoutMs?: number | undefined;
}

/** wireguard-go, over its socket. */
export function userspaceBackend(name: string, options: UserspaceBackendOptions = {}): DeviceBackend {
  const path = socketPath(name);
  const { onReplaced, readTimeoutMs } = options;
  const hung =
    onReplaced === undefined ? undefined : new HungWatch({ name, socket: path, onWarning: onReplaced });
  const read = () => readUserspace(path, undefined, readTimeoutMs);
  return {
    kind: "userspace",
    ensure: async (signal) => {
      await startUserspace({ name }, signal);
    },
    read: () => (hung === undefined ? read() : hung.read(read)),
    set: (change, signal) => setUserspace(name, path, change, signal),
    remove: () => stopUserspace({ name }),
    close: () => undefined,
  };
}

/** The kernel's module, over netlink. */
export function kernelBackend(name: string): DeviceBackend {
  const device = new KernelDevice(name);
  return {
    kind: "kernel",
    ensure: async () => {
      // A link that was there already may be another program's: reading tells.
      if (!device.make()) device.read();
    },
    read: async () => device.read(),
    set: async (change, signal) => {
      signal.throwIfAborted();
      device.apply(change);
    },
    remove: async () => device.remove(),
    close: () => device.close(),
  };
}
