/** The real host driver passes the compliance suite, with wireguard-go as mesh link and nftables as firewall. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { after, before } from "node:test";
import { describeHostDriver } from "../../src/linux/host-compliance.test-kit.ts";
import { createDeviceDriver } from "../../src/linux/index.ts";
import { kernelHost } from "./kernel-host.ts";
import { requireFreshNamespace } from "./namespace.ts";

const SOCKETS = "/run/wireguard";

requireFreshNamespace();

// Sockets of wireguard-go are files: a kilo0 of the machine's own must be neither seen nor replaced.
before(() => {
  mkdirSync(SOCKETS, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", SOCKETS]);
});

after(() => execFileSync("umount", [SOCKETS]));

describeHostDriver("kernel, wireguard-go as mesh link", async () =>
  kernelHost(await createDeviceDriver({ name: "kilo0", mode: "userspace" })),
);
