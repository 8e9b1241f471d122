/** A subject of the compliance suite whose kernel is real; somebody else is `ip`. */

import { createFirewallDriver } from "../../src/linux/firewall/driver.ts";
import type { HostSubject } from "../../src/linux/host-compliance.test-kit.ts";
import { createHost, type DeviceDriver, LinkRoles } from "../../src/linux/index.ts";
import { emptyNamespace, ip, makeUplink, settle } from "./namespace.ts";

/** A host with a private link eth0, and this driver for its mesh link kilo0. */
export function kernelHost(device: DeviceDriver): HostSubject {
  makeUplink();
  const links = new LinkRoles({ mesh: "kilo0", private: "eth0" });
  return {
    driver: createHost({ links, device, firewall: createFirewallDriver({ links }) }),
    addForeignRoute: async (destination) => {
      ip(`${family(destination)} route add ${destination} dev eth0${metric(destination)} proto static`);
    },
    removeForeignRoute: async (destination) => {
      ip(`${family(destination)} route del ${destination} dev eth0 proto static`);
    },
    hasForeignRoute: async (destination) =>
      ip(`${family(destination)} route show ${destination} proto static`).includes(" dev eth0"),
    removeOwnRoute: async (destination) => {
      ip(`${family(destination)} route del ${destination} dev kilo0 proto 171`);
    },
    setMeshUp: async (up) => {
      ip(`link set kilo0 ${up ? "up" : "down"}`);
    },
    settle,
    close: async () => {
      await device.remove();
      emptyNamespace();
    },
  };
}

function family(destination: string): "-4" | "-6" {
  return destination.includes(":") ? "-6" : "-4";
}

/** The place that IPv6 gives to a route without metric. */
function metric(destination: string): string {
  return family(destination) === "-6" ? " metric 1024" : "";
}
