import assert from "node:assert/strict";
import { constants } from "node:os";
import { test } from "node:test";
import { ByteWriter, type NetlinkMessage, readAttributes, readText } from "../netlink/index.ts";
import {
  type FakeDatagram,
  FakePort,
  kernelDone,
  kernelMessage,
  kernelVerdict,
} from "../netlink/port-fake.test-kit.ts";
import { prefixes, publicKey } from "./fixtures.test-kit.ts";
import { encodeSet } from "./genetlink.ts";
import { KernelDevice, kernelHasWireguard } from "./kernel.ts";

const { EADDRINUSE, EEXIST, ENODEV, ENOENT, EOPNOTSUPP } = constants.errno;
const CONTROLLER = 16;
const FAMILY = 31;
const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;

/** A kernel that answers each request with an errno by its type, and dumps with these payloads. */
function kernel(
  errnos: Partial<Record<"family" | "set" | "get" | "make" | "remove", number>>,
  parts: readonly Uint8Array[] = [],
) {
  const requests: NetlinkMessage[] = [];
  const answer = (request: NetlinkMessage, isRoute: boolean): FakeDatagram[] => {
    requests.push({ ...request, payload: Uint8Array.from(request.payload) });
    if (isRoute) return [kernelVerdict(request, request.type === RTM_NEWLINK ? errnos.make : errnos.remove)];
    if (request.type === CONTROLLER) {
      if (errnos.family !== undefined) return [kernelVerdict(request, errnos.family)];
      const payload = new ByteWriter().u32(0).attributeU16(1, FAMILY).finish();
      return [
        kernelMessage({ type: CONTROLLER, sequence: request.sequence, payload }),
        kernelVerdict(request),
      ];
    }
    if (request.payload[0] === 1) return [kernelVerdict(request, errnos.set)];
    if (errnos.get !== undefined) return [kernelVerdict(request, errnos.get)];
    const dump = parts.map((payload) =>
      kernelMessage({ type: FAMILY, flags: 2, sequence: request.sequence, payload }),
    );
    return [...dump, kernelDone(request)];
  };
  const protocols = new Map<number, number>();
  const port = new FakePort((messages, { fd }) =>
    messages.flatMap((message) => answer(message, protocols.get(fd) === 0)),
  );
  const open = port.open.bind(port);
  port.open = (protocol, groups) => {
    const fd = open(protocol, groups);
    protocols.set(fd, protocol);
    return fd;
  };
  return { port, requests };
}

test("whether the kernel has WireGuard is asked by the family's name", () => {
  const { port, requests } = kernel({});
  assert.equal(kernelHasWireguard(port), true);
  assert.equal(
    readText(readAttributes(requests[0]?.payload.subarray(4) ?? new Uint8Array()).get(2)),
    "wireguard",
  );
  assert.equal(kernelHasWireguard(kernel({ family: ENOENT }).port), false);
  assert.equal(port.sockets.size, 0, "no socket is left open");
});

test("golden: the link is made as kind wireguard, and only if it is missing", () => {
  const { port, requests } = kernel({});
  assert.equal(new KernelDevice("kilo0", port).make(), true);
  assert.equal(requests[0]?.type, RTM_NEWLINK);
  assert.equal(
    Buffer.from(requests[0]?.payload ?? []).toString("hex"),
    `${"00".repeat(16)}0a0003006b696c6f30000000140012800e000100${Buffer.from("wireguard\0").toString("hex")}0000`,
  );
  assert.equal((requests[0]?.flags ?? 0) & 0x600, 0x600, "create, exclusively");
  assert.equal(new KernelDevice("kilo0", kernel({ make: EEXIST }).port).make(), false);
});

test("a kernel without WireGuard: the error says what to do (K-67)", () => {
  const expected = { code: "DEVICE_NO_KERNEL", message: /modprobe wireguard/ };
  assert.throws(() => new KernelDevice("kilo0", kernel({ make: EOPNOTSUPP }).port).make(), expected);
  assert.throws(() => new KernelDevice("kilo0", kernel({ family: ENOENT }).port).read(), expected);
});

test("a device is read by a dump; the family is asked once", () => {
  const parts = encodeSet("kilo0", {
    listenPort: 7,
    peers: [{ kind: "add", publicKey: publicKey(2), allowedIPs: prefixes("10.0.0.0/8") }],
  });
  const { port, requests } = kernel({}, parts);
  const device = new KernelDevice("kilo0", port);
  assert.equal(device.read()?.listenPort, 7);
  assert.equal(device.read()?.peers[0]?.publicKey, publicKey(2));
  assert.deepEqual(
    requests.map((request) => request.type),
    [CONTROLLER, FAMILY, FAMILY],
  );
  device.close();
  device.close();
  assert.equal(port.sockets.size, 0);
});

test("no such device is undefined", () => {
  assert.equal(new KernelDevice("kilo0", kernel({ get: ENODEV }).port).read(), undefined);
});

test("a taken port: the error names it (K-78)", () => {
  const device = new KernelDevice("kilo0", kernel({ set: EADDRINUSE }).port);
  assert.throws(() => device.apply({ listenPort: 51820, peers: [] }), {
    code: "DEVICE_BUSY_PORT",
    message: /UDP port 51820/,
  });
});

test("removal: the link goes by its name; a missing one is nothing to remove", () => {
  const { port, requests } = kernel({});
  assert.equal(new KernelDevice("kilo0", port).remove(), true);
  assert.equal(requests[0]?.type, RTM_DELLINK);
  assert.equal(new KernelDevice("kilo0", kernel({ remove: ENODEV }).port).remove(), false);
});

test("a foreign link has the name: the error says so", () => {
  const device = new KernelDevice("br0", kernel({ get: EOPNOTSUPP }).port);
  assert.throws(() => device.read(), {
    code: "DEVICE_START",
    message: /cannot use br0: a link of this name exists/,
  });
});
