/** What goes wrong with a WireGuard device. */
import { constants } from "node:os";

/**
 * - `DEVICE_MISSING`: there is no such device, or nobody serves it
 * - `DEVICE_BUSY_PORT`: another socket holds the listen port (report K-78)
 * - `DEVICE_REFUSED`: the device refused a change; `errno` says why
 * - `DEVICE_REPLY`: an answer that cannot be read
 * - `DEVICE_TIMEOUT`: no answer in time
 * - `DEVICE_START`: the device cannot be made
 * - `DEVICE_NO_KERNEL`: this kernel has no WireGuard (report K-67)
 */
export type DeviceErrorCode =
  | "DEVICE_MISSING"
  | "DEVICE_BUSY_PORT"
  | "DEVICE_REFUSED"
  | "DEVICE_REPLY"
  | "DEVICE_TIMEOUT"
  | "DEVICE_START"
  | "DEVICE_NO_KERNEL";

/** Message: "cannot X: reason (value)". Never holds a key. */
export class DeviceError extends Error {
  readonly code: DeviceErrorCode;
  /** Positive errno number, where the device gave one. */
  readonly errno: number | undefined;

  constructor(code: DeviceErrorCode, message: string, more: { cause?: unknown; errno?: number } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "DeviceError";
    this.code = code;
    this.errno = more.errno;
  }
}

const { EADDRINUSE } = constants.errno;

/** The error for a change that the device answered with an errno. `name` is the link, `listenPort` the port that the change asks for. */
export function refusal(name: string, errno: number, listenPort: number | undefined): DeviceError {
  if (errno === EADDRINUSE) return busyPort(name, listenPort);
  return new DeviceError(
    "DEVICE_REFUSED",
    `cannot configure ${name}: the device refused it (errno ${errno})`,
    {
      errno,
    },
  );
}

/** The error for a listen port that somebody else holds (report K-78). `holder`: the WireGuard link that has it, if it is known. */
export function busyPort(name: string, listenPort: number | undefined, holder?: string): DeviceError {
  const port = listenPort === undefined ? "its listen port" : `UDP port ${listenPort}`;
  const who = holder === undefined ? "another program or WireGuard link" : `WireGuard link ${holder}`;
  const advice = `see who with "ss -ulnp" or "wg show all listen-port", end it, or start kg with another --port`;
  return new DeviceError("DEVICE_BUSY_PORT", `cannot bind ${name}: ${port} is taken by ${who}; ${advice}`, {
    errno: EADDRINUSE,
  });
}

/** The error for a kernel without WireGuard (report K-67). */
export function noKernel(name: string, cause?: unknown): DeviceError {
  const advice = `load the module ("modprobe wireguard"), or install the package wireguard-go and give --wireguard=userspace`;
  const message = `cannot make ${name}: WireGuard is not available in this kernel; ${advice}`;
  return new DeviceError("DEVICE_NO_KERNEL", message, { cause });
}

/** The error for a device that must exist already, and does not. */
export function notThere(name: string, kind: "kernel" | "userspace"): DeviceError {
  const start = kind === "kernel" ? `ip link add ${name} type wireguard` : `wireguard-go ${name}`;
  const message = `cannot use ${name}: there is no such WireGuard link; start it with "${start}", or leave --create-interface away so that kg makes it`;
  return new DeviceError("DEVICE_MISSING", message);
}
