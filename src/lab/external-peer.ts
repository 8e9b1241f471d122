/** An external peer of the mesh: a laptop with WireGuard on it, configured as a person would do it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { runIp } from "./command.ts";
import { LabError } from "./errors.ts";
import type { LabHost } from "./host.ts";
import type { PathEnd } from "./paths.ts";
import { changedPeers, type PeerConfiguration, readPeerConfiguration } from "./peer-configuration.ts";

const LINK = "wg0";

/** What is left of 1500 bytes for packets in WireGuard over IPv6; over IPv4 it fits as well. */
const DEFAULT_MTU = 1420;

export interface ConnectOptions {
  /** As `kg plan --peer NAME` prints it, or written by hand. */
  readonly configuration: string;
  /** Base64. */
  readonly privateKey: string;
  /** Path for the configuration of the device, which holds the key. A later call finds there what the device has. */
  readonly path: string;
  /** `kernel` needs the module. @default "userspace" */
  readonly wireguard?: "userspace" | "kernel" | undefined;
}

/**
 * Brings the tunnel of a peer up: device, addresses, MTU, and routes for all that its peers allow. Called again it touches only
 * what has changed: a whole configuration would take another port, and who knows the peer by the old one could not be reached from behind NAT.
 */
export async function connectPeer(host: LabHost, options: ConnectOptions): Promise<PathEnd> {
  const configuration = readPeerConfiguration(options.configuration, options.privateKey);
  const own = ownAddresses(host, configuration);
  const mtu = configuration.mtu ?? DEFAULT_MTU;
  if (await linkExists(host)) {
    const changes = changedPeers(readFileSync(options.path, "utf8"), configuration.device);
    if (changes.length > 0) await host.run(["wg", "set", LINK, ...changes]);
    writeFileSync(options.path, configuration.device, { mode: 0o600 });
  } else {
    await makeLink(host, options.wireguard ?? "userspace");
    writeFileSync(options.path, configuration.device, { mode: 0o600 });
    await host.run(["wg", "setconf", LINK, options.path]);
  }
  const stale = (await routesOf(host)).filter((prefix) => !configuration.allowedIPs.includes(prefix));
  await runIp(host.site, [
    ...own.map((address) => `addr replace ${address} dev ${LINK}`),
    `link set ${LINK} mtu ${mtu} up`,
    ...configuration.allowedIPs.map((prefix) => `route replace ${prefix} dev ${LINK}`),
    ...stale.map((prefix) => `route del ${prefix} dev ${LINK}`),
  ]);
  const address = own[0]?.split("/")[0];
  if (address === undefined)
    throw new LabError("scenario", `cannot connect peer ${host.name}: it has no address in the mesh`);
  return { name: host.name, address, mtu, prober: await host.prober() };
}

/** The configuration says it, or the Peer's allowed IPs do. */
function ownAddresses(host: LabHost, configuration: PeerConfiguration): readonly string[] {
  if (configuration.addresses.length > 0) return configuration.addresses;
  const role = host.placed.spec.role;
  return role?.kind === "peer" ? role.allowedIPs.slice(0, 1) : [];
}

/** Prefixes that are routed into the tunnel, all by this file: its address is a /32. */
async function routesOf(host: LabHost): Promise<string[]> {
  const routes = JSON.parse(await host.run(["ip", "-4", "-j", "route", "show", "dev", LINK])) as {
    dst: string;
  }[];
  return routes.map(({ dst }) => (dst.includes("/") ? dst : `${dst}/32`));
}

async function linkExists(host: LabHost): Promise<boolean> {
  return (await host.execute(["ip", "link", "show", LINK])).status === 0;
}

async function makeLink(host: LabHost, wireguard: "userspace" | "kernel"): Promise<void> {
  if (wireguard === "kernel") return runIp(host.site, [`link add ${LINK} type wireguard`]);
  const daemon = await host.startDaemon("wireguard-go", ["wireguard-go", "-f", LINK]);
  const socket = `/proc/${host.site.pid}/root/run/wireguard/${LINK}.sock`;
  for (let tries = 0; tries < 500; tries += 1) {
    if (existsSync(socket)) return;
    if (!daemon.running) break;
    await sleep(10);
  }
  throw new LabError("process", `cannot start wireguard-go on ${host.name}: ${daemon.tail()}`);
}
