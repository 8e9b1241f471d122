/** `kg clean-up`: removes everything kg ever made on this host, and what it wrote into its Node. The key stays: it is the node's identity. */
import { createKubeClient, type KubeClient, loadClusterConfig } from "../kube/index.ts";
import {
  createCniFile,
  createDeviceDriver,
  createFirewallDriver,
  createHost,
  type DeviceDriver,
  type FirewallDriver,
  LinkRoles,
} from "../linux/index.ts";
import { OWN_ANNOTATIONS } from "../mesh/index.ts";
import { HostError, requireRoot } from "./host-error.ts";
import { patchAnnotations } from "./kubernetes.ts";
import { isTaken } from "./only-one.ts";
import type { AgentOptions } from "./options.ts";

/** The annotations must not make the clean-up of a host wait for long: its API server may be reached through the very mesh that goes. */
const API_TIMEOUT_MS = 10_000;

/**
 * Cleans up and says each thing it removed, and each that it could not.
 * @param say takes one line without its end
 * @returns exit code: 0 when everything is gone, else 1
 * @throws HostError when not root, or while kg still runs here; MissingToolError, AddonError
 */
export async function cleanUp(options: AgentOptions, say: (line: string) => void): Promise<number> {
  requireRoot("clean up");
  if (await isTaken(options.interface)) {
    throw new HostError(
      `cannot clean up: kg still serves ${options.interface} on this host and would make everything anew; stop it first`,
    );
  }
  // The Node first: others should stop sending before the way to the API server may be gone.
  const results = [
    await cleanNode(options, say),
    await cleanHost(options, say),
    await cleanCni(options, say),
  ];
  if (results.includes(false)) {
    say("not clean: see what was kept above");
    return 1;
  }
  say("clean; the private key is kept");
  return 0;
}

async function cleanNode(options: AgentOptions, say: (line: string) => void): Promise<boolean> {
  let client: KubeClient | undefined;
  try {
    client = createKubeClient({ config: loadClusterConfig(options), userAgent: "kg" });
    const gone = Object.fromEntries(OWN_ANNOTATIONS.map((name) => [name, null]));
    await patchAnnotations(client, options.hostname, gone, AbortSignal.timeout(API_TIMEOUT_MS));
    say(`removed annotations of Node ${options.hostname}`);
    return true;
  } catch (error) {
    say(
      `kept annotations of Node ${options.hostname}: ${messageOf(error)}; remove them with kubectl, or run clean-up again`,
    );
    return false;
  } finally {
    client?.close();
  }
}

async function cleanHost(options: AgentOptions, say: (line: string) => void): Promise<boolean> {
  const links = new LinkRoles({ mesh: options.interface });
  const device: DeviceDriver & { close(): void } = await createDeviceDriver({
    name: options.interface,
    mode: options.wireguard,
    create: options.createInterface,
    mustBeMakeable: false,
  });
  const firewall: FirewallDriver = createFirewallDriver({ links });
  const host = createHost({ links, device, firewall });
  try {
    const { removed, failures } = await host.removeEverything();
    for (const line of removed) say(`removed ${line}`);
    for (const { message } of failures) say(`kept: ${message}`);
    return failures.length === 0;
  } finally {
    host.close();
    firewall.close();
    device.close();
  }
}

async function cleanCni(options: AgentOptions, say: (line: string) => void): Promise<boolean> {
  if (!options.mesh.cni) return true;
  try {
    for (const line of await createCniFile({ path: options.cniPath }).remove()) say(`removed ${line}`);
    return true;
  } catch (error) {
    say(`kept: ${messageOf(error)}`);
    return false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
