/** The two ways to serve a WireGuard device, as one interface. */
import type { DeviceChange, DeviceStatus } from "../../wireguard/index.ts";
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

/** wireguard-go, over its socket. */
export function userspaceBackend(name: string): DeviceBackend {
  const path = socketPath(name);
  return {
    kind: "userspace",
    ensure: async (signal) => {
      await startUserspace({ name }, signal);
    },
    read: () => readUserspace(path),
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
