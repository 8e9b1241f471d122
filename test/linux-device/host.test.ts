/** The real host driver passes the compliance suite, with wireguard-go as mesh link. */
import { describeHostDriver } from "../../src/linux/host-compliance.test-kit.ts";
import { createDeviceDriver } from "../../src/linux/wireguard/driver.ts";
import { kernelHost } from "../linux/kernel-host.ts";
import { assertSandbox } from "./sandbox.ts";

assertSandbox();

describeHostDriver("kernel, wireguard-go as mesh link", async () =>
  kernelHost(await createDeviceDriver({ name: "kilo0", mode: "userspace" })),
);
