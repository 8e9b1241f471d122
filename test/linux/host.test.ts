/** The real host driver passes the compliance suite, in a network namespace with a veth as mesh link. */
import { describeHostDriver, type HostSubject } from "../../src/linux/host-compliance.ts";
import { createHost, LinkRoles } from "../../src/linux/index.ts";
import { fakeDevice, fakeFirewall } from "./fake-drivers.ts";
import { emptyNamespace, ip, makeUplink, requireOwnNamespace, settle } from "./namespace.ts";

requireOwnNamespace();

describeHostDriver("kernel, veth as mesh link", async () => {
  makeUplink();
  const driver = createHost({
    links: new LinkRoles({ mesh: "kilo0", private: "eth0" }),
    device: fakeDevice("kilo0"),
    firewall: fakeFirewall(),
  });
  return subjectOf(driver);
});

function subjectOf(driver: HostSubject["driver"]): HostSubject {
  return {
    driver,
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
    close: async () => emptyNamespace(),
  };
}

function family(destination: string): "-4" | "-6" {
  return destination.includes(":") ? "-6" : "-4";
}

/** The place that IPv6 gives to a route without metric. */
function metric(destination: string): string {
  return family(destination) === "-6" ? " metric 1024" : "";
}
