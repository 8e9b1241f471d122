/** The real host driver passes the compliance suite, with a veth as mesh link. */
import { describeHostDriver } from "../../src/linux/host-compliance.test-kit.ts";
import { assertSandbox } from "../linux-device/sandbox.ts";
import { fakeDevice } from "./fake-device.ts";
import { kernelHost } from "./kernel-host.ts";

assertSandbox();

describeHostDriver("kernel, veth as mesh link", async () => kernelHost(fakeDevice("kilo0")));
