/** The WireGuard device of the kernel's module: made by rtnetlink, configured by generic netlink. */
import type { DeviceChange, DeviceStatus } from "../../wireguard/index.ts";
import {
  ByteWriter,
  isNetlinkError,
  NETLINK_GENERIC,
  NETLINK_ROUTE,
  type NetlinkPort,
  NetlinkSocket,
  NLM_F_CREATE,
  NLM_F_EXCL,
  readAttributes,
  readU16,
} from "../netlink/index.ts";
import { DeviceError, noKernel, refusal } from "./errors.ts";
import { decodeDevice, encodeGet, encodeSet, FAMILY_NAME } from "./genetlink.ts";

/** linux/genetlink.h: the controller that knows the families. */
const CONTROLLER = 16;
const CTRL_CMD_GETFAMILY = 3;
const CTRL_ATTR_FAMILY_ID = 1;
const CTRL_ATTR_FAMILY_NAME = 2;

const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const IFLA_IFNAME = 3;
const IFLA_LINKINFO = 18;
const IFLA_INFO_KIND = 1;
const IFINFOMSG_LENGTH = 16;

/** Whether this kernel has WireGuard; asking loads the module where there is one. */
export function kernelHasWireguard(port?: NetlinkPort): boolean {
  const socket = new NetlinkSocket({ protocol: NETLINK_GENERIC, port });
  try {
    return familyId(socket) !== undefined;
  } finally {
    socket.close();
  }
}

/** One device of the kernel's. */
export class KernelDevice {
  readonly #name: string;
  readonly #port: NetlinkPort | undefined;
  #socket: NetlinkSocket | undefined;
  #family = 0;

  /** `port`: the calls below netlink. @default the native addon */
  constructor(name: string, port?: NetlinkPort) {
    this.#name = name;
    this.#port = port;
  }

  /** Makes the link if it is missing. Resolves to whether it was made. */
  make(): boolean {
    const writer = this.#linkMessage().nested(IFLA_LINKINFO, (info) =>
      info.attributeText(IFLA_INFO_KIND, FAMILY_NAME),
    );
    try {
      this.#route(
        RTM_NEWLINK,
        NLM_F_CREATE | NLM_F_EXCL,
        writer.finish(),
        `make WireGuard link ${this.#name}`,
      );
      return true;
    } catch (error) {
      if (isNetlinkError(error, "EEXIST")) return false;
      if (isNetlinkError(error, "EOPNOTSUPP")) throw noKernel(this.#name, error);
      throw error;
    }
  }

  /** Undefined when there is no such device. */
  read(): DeviceStatus | undefined {
    const socket = this.#generic();
    try {
      const parts = socket.dump({
        type: this.#family,
        payload: encodeGet(this.#name),
        what: `read WireGuard device ${this.#name}`,
      });
      return decodeDevice(parts.map((part) => part.payload));
    } catch (error) {
      if (isNetlinkError(error, "ENODEV")) return undefined;
      if (isNetlinkError(error, "EOPNOTSUPP")) throw notWireguard(this.#name, error);
      throw error;
    }
  }

  /** Sends exactly this change, in as many messages as it needs. */
  apply(change: DeviceChange): void {
    const socket = this.#generic();
    for (const payload of encodeSet(this.#name, change)) {
      try {
        socket.request({ type: this.#family, payload, what: `configure ${this.#name}` });
      } catch (error) {
        if (isNetlinkError(error, "EADDRINUSE")) throw refusal(this.#name, error.errno, change.listenPort);
        throw error;
      }
    }
  }

  /** Resolves to whether there was a link. */
  remove(): boolean {
    try {
      this.#route(RTM_DELLINK, 0, this.#linkMessage().finish(), `remove link ${this.#name}`);
      return true;
    } catch (error) {
      if (isNetlinkError(error, "ENODEV")) return false;
      throw error;
    }
  }

  /** Idempotent; the device stays. */
  close(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #generic(): NetlinkSocket {
    if (this.#socket !== undefined) return this.#socket;
    const socket = new NetlinkSocket({ protocol: NETLINK_GENERIC, port: this.#port });
    const family = familyId(socket);
    if (family === undefined) {
      socket.close();
      throw noKernel(this.#name);
    }
    this.#family = family;
    this.#socket = socket;
    return socket;
  }

  #linkMessage(): ByteWriter {
    return new ByteWriter().raw(new Uint8Array(IFINFOMSG_LENGTH)).attributeText(IFLA_IFNAME, this.#name);
  }

  #route(type: number, flags: number, payload: Uint8Array, what: string): void {
    const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port: this.#port });
    try {
      socket.request({ type, flags, payload, what });
    } finally {
      socket.close();
    }
  }
}

function familyId(socket: NetlinkSocket): number | undefined {
  const payload = new ByteWriter().u8(CTRL_CMD_GETFAMILY).u8(1).u16(0);
  payload.attributeText(CTRL_ATTR_FAMILY_NAME, FAMILY_NAME);
  try {
    const [reply] = socket.request({
      type: CONTROLLER,
      payload: payload.finish(),
      what: "ask the kernel for WireGuard",
    });
    return readU16(readAttributes(reply?.payload.subarray(4) ?? new Uint8Array(0)).get(CTRL_ATTR_FAMILY_ID));
  } catch (error) {
    if (isNetlinkError(error, "ENOENT")) return undefined;
    throw error;
  }
}

function notWireguard(name: string, cause: unknown): DeviceError {
  const advice = `remove it with "ip link delete ${name}" or start kg with another --interface`;
  const message = `cannot use ${name}: a link of this name exists that is not WireGuard's; ${advice}`;
  return new DeviceError("DEVICE_START", message, { cause });
}
