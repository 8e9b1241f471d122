/** A device driver in memory, for tests that are about netlink: its link is a veth. */
import { existsSync } from "node:fs";
import type { DeviceDriver } from "../../src/linux/index.ts";
import { applyDeviceChange, type DeviceStatus, EMPTY_DEVICE } from "../../src/wireguard/index.ts";
import { ip } from "./namespace.ts";

/** A device whose link is one end of a veth named `name`. */
export function fakeDevice(name: string): DeviceDriver {
  let device: DeviceStatus | undefined;
  const exists = () => existsSync(`/proc/sys/net/ipv4/conf/${name}`);
  return {
    kind: "userspace",
    ensure: async () => {
      if (exists()) return;
      ip(`link add ${name} type veth peer name ${name}p`);
      ip(`link set ${name}p up`);
      device = EMPTY_DEVICE;
    },
    read: async () => (exists() ? device : undefined),
    apply: async (change) => {
      device = applyDeviceChange(device ?? EMPTY_DEVICE, change);
    },
    remove: async () => {
      if (!exists()) return [];
      ip(`link del ${name}`);
      device = undefined;
      return [`link ${name}`];
    },
  };
}
