/** Builds the agent from real parts, runs it until it is told to stop, and gives everything back. */
import { lookup } from "node:dns/promises";
import { join } from "node:path";
import { type Address, parseAddress } from "../ip/index.ts";
import {
  createCniFile,
  createDeviceDriver,
  createFirewallDriver,
  createHost,
  LinkRoles,
  loadOrCreateKey,
} from "../linux/index.ts";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { Agent } from "./agent.ts";
import { firstContact } from "./first-contact.ts";
import { ForwardWatch } from "./forward-watch.ts";
import { requireRoot } from "./host-error.ts";
import { hostnameAddresses } from "./hostname.ts";
import { serveHttp } from "./http.ts";
import { connectKubernetes } from "./kubernetes.ts";
import { createAgentMetrics } from "./metrics.ts";
import { takeLink } from "./only-one.ts";
import type { AgentOptions } from "./options.ts";
import { createResolver } from "./resolver.ts";

/** How often is looked which names are due, although nobody asks: an address that moved must be noticed in a still mesh. */
const REFRESH_NAMES_MS = 1_000;

/** What has to be given back at the end, last first. */
type Resources = (() => Promise<void> | void)[];

/**
 * Runs the agent of this host until SIGTERM or SIGINT. The data plane and the annotations stay as they are then: what is removed, is
 * removed by `kg clean-up`.
 * @param version what `kilomesh.io/agent` and the log say
 * @returns exit code
 * @throws HostError, KeyFileError, MissingToolError, DeviceError, AddonError, ConfigError, ListenError, NoContactError: what is wrong at
 * the start, and what to do
 */
export async function runAgent(options: AgentOptions, version: string): Promise<number> {
  const log = createLogger({ level: options.logLevel });
  const resources: Resources = [];
  try {
    const { contact } = await start(options, version, log, resources);
    const signal = await Promise.race([stopSignal(), contact]);
    log.info("stopping; the data plane stays as it is", { signal });
    return 0;
  } finally {
    for (const release of resources.reverse()) {
      await Promise.resolve(release()).catch((error: unknown) => log.warn("cannot give back", { error }));
    }
  }
}

/**
 * What can be wrong is looked at first, and a key is made last: a start that fails leaves nothing behind.
 * @returns in an object, so that who awaits the start does not await it: rejects when the API server cannot be reached at all (see
 * `firstContact`), never resolves
 */
async function start(
  options: AgentOptions,
  version: string,
  log: Logger,
  resources: Resources,
): Promise<{ readonly contact: Promise<never> }> {
  requireRoot("run the agent");
  resources.push(await takeLink(options.interface));
  const metrics = createAgentMetrics();
  let agent: Agent | undefined;
  const kubernetes = connectKubernetes(options, log.component("kube"), {
    onNode: (change) => agent?.nodeChanged(change),
    onChange: (what) => agent?.changed(what),
    onFailed: () => agent?.contactFailed(),
  });
  resources.push(() => kubernetes.stop());
  const { host, device } = await connectHost(options, log, resources);
  const http = await serveHttp({
    listen: options.listen,
    notReady: () => agent?.health.reasons() ?? ["start: not done"],
    metrics: () => metrics.registry.render(),
  });
  resources.push(() => http.close());
  const { privateKey, publicKey, created } = await loadOrCreateKey(join(options.stateFolder, "key"));
  if (created) log.info("made a new private key", { folder: options.stateFolder, publicKey });

  const resolve = resolveNames({
    log,
    resources,
    serverHost: kubernetes.serverHost,
    onChange: (name) => agent?.changed(`name ${name}`),
  });
  const running = new Agent(options, {
    nodes: kubernetes.nodes,
    peers: kubernetes.peers,
    patchOwnNode: kubernetes.patchOwnNode,
    host,
    caller: device,
    resolve,
    apiServer: () => addressesOf(kubernetes.serverHost, resolve),
    hostnameAddresses: await hostnameAddresses(options.hostname, lookUp),
    privateKey,
    publicKey,
    version,
    log,
    metrics,
  });
  agent = running;
  const forward = new ForwardWatch({ host, log, metrics });
  resources.push(() => forward.stop());

  log.info("starting", { version, hostname: options.hostname, wireguard: device.kind });
  kubernetes.start();
  running.start();
  forward.start();
  resources.push(() => running.stop());
  return { contact: firstContact({ nodes: kubernetes.nodes, host, log }) };
}

interface NameParts {
  readonly log: Logger;
  readonly resources: Resources;
  /** Name or address of the API server. */
  readonly serverHost: string | undefined;
  readonly onChange: (name: string) => void;
}

function resolveNames({ log, resources, serverHost, onChange }: NameParts) {
  const resolver = createResolver({
    lookup: lookUp,
    onChange,
    onFailure: (name, error) => {
      const whose = name === serverHost ? "the API server's name" : "an endpoint's name";
      log.warn(`cannot resolve ${whose}; its last address counts`, { name, error });
    },
  });
  const refresh = setInterval(() => resolver.refresh(), REFRESH_NAMES_MS);
  resources.push(() => clearInterval(refresh));
  return (name: string) => resolver.resolve(name);
}

async function connectHost(options: AgentOptions, log: Logger, resources: Resources) {
  const links = new LinkRoles({ mesh: options.interface });
  const device = await createDeviceDriver({
    name: options.interface,
    mode: options.wireguard,
    create: options.createInterface,
    onWarning: (message) => log.warn(message),
  });
  resources.push(() => device.close());
  const firewall = createFirewallDriver({ links });
  resources.push(() => firewall.close());
  const cni = options.mesh.cni ? createCniFile({ path: options.cniPath }) : undefined;
  const host = createHost({ links, device, firewall, cni });
  resources.push(() => host.close());
  return { host, device };
}

/** Its address is known at once; a name's from the first answer on. */
function addressesOf(
  host: string | undefined,
  resolve: (name: string) => readonly Address[],
): readonly Address[] {
  if (host === undefined) return [];
  const address = parseAddress(host);
  return address === undefined ? resolve(host) : [address];
}

async function lookUp(name: string): Promise<string[]> {
  return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
}
