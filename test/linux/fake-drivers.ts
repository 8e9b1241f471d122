/** Device and firewall drivers in memory, for tests that are about netlink: the link of the device is a veth. */
import type { DeviceDriver, FirewallDriver } from "../../src/linux/index.ts";
import { applyToDevice, EMPTY_DEVICE } from "../../src/linux/wireguard/model.ts";
import type { Firewall } from "../../src/mesh/index.ts";
import type { DeviceStatus } from "../../src/wireguard/index.ts";
import { ip } from "./namespace.ts";

/** A device whose link is one end of a veth named `name`. */
export function fakeDevice(name: string): DeviceDriver {
  let device: DeviceStatus | undefined;
  return {
    kind: "userspace",
    ensure: async () => {
      if (device !== undefined) return;
      ip(`link add ${name} type veth peer name ${name}p`);
      ip(`link set ${name}p up`);
      device = EMPTY_DEVICE;
    },
    read: async () => device,
    apply: async (change) => {
      device = applyToDevice(device ?? EMPTY_DEVICE, change);
    },
    remove: async () => {
      if (device === undefined) return [];
      ip(`link del ${name}`);
      device = undefined;
      return [`link ${name}`];
    },
  };
}

/** A table in memory. */
export function fakeFirewall(): FirewallDriver {
  let table: Firewall | undefined;
  return {
    read: async () => table,
    apply: async (change) => {
      if (change.kind === "replace") {
        table = change.firewall;
        return;
      }
      const sets = { ...table?.sets } as Firewall["sets"];
      const changed = Object.fromEntries(change.sets.map(({ set, add }) => [set, add]));
      table = { ...table, sets: { ...sets, ...changed } };
    },
    remove: async () => {
      const removed = table === undefined ? [] : ["table"];
      table = undefined;
      return removed;
    },
    foreignForwardDrops: async () => [],
    watch: () => () => undefined,
    close: () => undefined,
  };
}
