/** Whether a UDP port can be bound. WireGuard itself tells only when the link goes up, and wireguard-go not even then (report K-78). */
import { createSocket } from "node:dgram";
import { readdir } from "node:fs/promises";
import { busyPort } from "./errors.ts";
import { readUserspace, SOCKET_FOLDER } from "./uapi-client.ts";

/** Throws `DeviceError` `DEVICE_BUSY_PORT` when another socket of this network namespace holds the port in one of the families. */
export async function assertPortFree(name: string, port: number): Promise<void> {
  for (const type of ["udp4", "udp6"] as const) {
    if (await canBind(type, port)) continue;
    throw busyPort(name, port, await holder(name, port));
  }
}

/** Only "address in use" counts: without IPv6 there is nothing to bind, and that is no fault. */
function canBind(type: "udp4" | "udp6", port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket({ type, ipv6Only: type === "udp6" });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.close();
      resolve(error.code !== "EADDRINUSE");
    });
    socket.bind({ port, exclusive: true }, () => {
      socket.close(() => resolve(true));
    });
  });
}

/** The name of another userspace WireGuard with this port; undefined when it is none of those. */
async function holder(name: string, port: number): Promise<string | undefined> {
  const files = await readdir(SOCKET_FOLDER).catch(() => []);
  for (const file of files.filter((entry) => entry.endsWith(".sock") && entry !== `${name}.sock`)) {
    const device = await readUserspace(`${SOCKET_FOLDER}/${file}`).catch(() => undefined);
    if (device?.listenPort === port) return file.slice(0, -".sock".length);
  }
  return undefined;
}
