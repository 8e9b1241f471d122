/** Runs the real CNI plugins of a host as a container runtime does (CNI specification 0.4.0/1.0.0): every plugin of the chain, results handed on. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execute, type Site } from "./command.ts";
import { LabError } from "./errors.ts";

/** Where Debian's package and where everybody else puts plugins. */
export const PLUGIN_FOLDERS = ["/usr/lib/cni", "/opt/cni/bin"];

const CONFIGURATION_FOLDER = "/etc/cni/net.d";

/** A pod's sandbox, as the plugins are told of it. */
export interface Sandbox {
  readonly id: string;
  /** Path of the network namespace on the host. */
  readonly namespace: string;
}

export interface PodNetwork {
  /** First IPv4 address. */
  readonly address: string;
}

interface PluginConfiguration {
  readonly type: string;
  readonly ipam?: { readonly ranges?: readonly unknown[] } | undefined;
}

interface NetworkConfiguration {
  readonly cniVersion: string;
  readonly name: string;
  readonly plugins: readonly PluginConfiguration[];
}

/**
 * Waits until the host has a CNI configuration with address ranges, as a kubelet leaves pods waiting.
 * @throws LabError `timeout` with what is missing
 */
export async function waitForNetwork(site: Site, timeout: number, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const found = readConfiguration(site);
    if (found?.plugins.some((plugin) => (plugin.ipam?.ranges ?? []).length > 0)) return;
    if (Date.now() > deadline) {
      const what = found === undefined ? "no file" : "no address range in the file";
      throw new LabError("timeout", `cannot attach pods on ${site.name}: ${what} in ${CONFIGURATION_FOLDER}`);
    }
    await sleep(20, undefined, { signal });
  }
}

/** Attaches a sandbox to the network of its host: `eth0`, with an address and routes. @throws LabError `cni` with the plugin's words */
export async function attach(site: Site, sandbox: Sandbox): Promise<PodNetwork> {
  const network = configurationOf(site);
  let previous: unknown;
  for (const plugin of network.plugins)
    previous = await runPlugin("ADD", site, network, plugin, sandbox, previous);
  const address = firstAddress(previous);
  if (address === undefined)
    throw new LabError("cni", `cannot attach a pod on ${site.name}: no IPv4 address in the result`);
  return { address };
}

/** Takes a sandbox off the network: the chain backwards. */
export async function detach(site: Site, sandbox: Sandbox): Promise<void> {
  const network = configurationOf(site);
  for (const plugin of [...network.plugins].reverse())
    await runPlugin("DEL", site, network, plugin, sandbox, undefined);
}

async function runPlugin(
  verb: "ADD" | "DEL",
  site: Site,
  network: NetworkConfiguration,
  plugin: PluginConfiguration,
  sandbox: Sandbox,
  previous: unknown,
): Promise<unknown> {
  const configuration = {
    cniVersion: network.cniVersion,
    name: network.name,
    ...plugin,
    ...(previous === undefined ? {} : { prevResult: previous }),
  };
  const result = await execute(site, [pluginPath(plugin.type)], {
    input: JSON.stringify(configuration),
    environment: {
      CNI_COMMAND: verb,
      CNI_CONTAINERID: sandbox.id,
      CNI_NETNS: sandbox.namespace,
      CNI_IFNAME: "eth0",
      CNI_PATH: PLUGIN_FOLDERS.join(":"),
      CNI_ARGS: "IgnoreUnknown=1",
    },
  });
  if (result.status !== 0) {
    const words = (result.stdout || result.stderr).trim();
    throw new LabError("cni", `cannot run CNI ${verb} of ${plugin.type} on ${site.name}: ${words}`);
  }
  return result.stdout.trim() === "" ? previous : JSON.parse(result.stdout);
}

function pluginPath(type: string): string {
  const path = PLUGIN_FOLDERS.map((folder) => join(folder, type)).find((candidate) => existsSync(candidate));
  if (path === undefined) {
    throw new LabError(
      "missing",
      `cannot find CNI plugin ${type} in ${PLUGIN_FOLDERS.join(" or ")} (install containernetworking-plugins)`,
    );
  }
  return path;
}

function configurationOf(site: Site): NetworkConfiguration {
  const found = readConfiguration(site);
  if (found === undefined) throw new LabError("cni", `cannot find a CNI configuration on ${site.name}`);
  return found;
}

/** The first file by name wins, as in container runtimes. Read through the mounts of the host. */
function readConfiguration(site: Site): NetworkConfiguration | undefined {
  const folder = `/proc/${site.pid}/root${CONFIGURATION_FOLDER}`;
  const file = readdirSync(folder)
    .filter((name) => name.endsWith(".conflist"))
    .sort()[0];
  if (file === undefined) return undefined;
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as NetworkConfiguration;
}

function firstAddress(result: unknown): string | undefined {
  const ips = (result as { ips?: readonly { address?: string }[] } | undefined)?.ips ?? [];
  return ips.map((ip) => ip.address?.split("/")[0]).find((address) => address?.includes("."));
}
