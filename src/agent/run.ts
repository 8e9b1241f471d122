/** Builds the agent from real parts, runs it until it is told to stop, and gives everything back. */
import { lookup } from "node:dns/promises";
import { join } from "node:path";
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
import { ForwardWatch } from "./forward-watch.ts";
import { requireRoot } from "./host-error.ts";
import { serveHttp } from "./http.ts";
import { connectKubernetes } from "./kubernetes.ts";
import { createAgentMetrics } from "./metrics.ts";
import type { AgentOptions } from "./options.ts";
import { createResolver } from "./resolver.ts";

/** Names are looked up anew from time to time although nobody asks: an address that moved must be noticed in a still mesh. */
const REFRESH_NAMES_MS = 10_000;

/** What has to be given back at the end, last first. */
type Resources = (() => Promise<void> | void)[];

/**
 * Runs the agent of this host until SIGTERM or SIGINT. The data plane and the annotations stay as they are then: what is removed, is
 * removed by `kg clean-up`.
 * @param version what `kilomesh.io/agent` and the log say
 * @returns exit code
 * @throws HostError, KeyFileError, MissingToolError, AddonError, ConfigError, ListenError: what is wrong at the start, and what to do
 */
export async function runAgent(options: AgentOptions, version: string): Promise<number> {
  const log = createLogger({ level: options.logLevel });
  const resources: Resources = [];
  try {
    await start(options, version, log, resources);
    const signal = await stopSignal();
    log.info("stopping; the data plane stays as it is", { signal });
    return 0;
  } finally {
    for (const release of resources.reverse()) await release();
  }
}

async function start(
  options: AgentOptions,
  version: string,
  log: Logger,
  resources: Resources,
): Promise<void> {
  requireRoot("run the agent");
  const metrics = createAgentMetrics();
  const { privateKey, publicKey, created } = await loadOrCreateKey(join(options.stateFolder, "key"));
  if (created) log.info("made a new private key", { folder: options.stateFolder, publicKey });

  const { host, device } = await connectHost(options, log, resources);

  let agent: Agent | undefined;
  const resolver = createResolver({
    lookup: async (name) => (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address),
    onChange: (name) => agent?.changed(`name ${name}`),
    onFailure: (name, error) =>
      log.warn("cannot resolve an endpoint's name; its last address counts", { name, error }),
  });
  const kubernetes = connectKubernetes(options, log.component("kube"), {
    onNode: (change) => agent?.nodeChanged(change),
    onChange: (what) => agent?.changed(what),
  });
  resources.push(() => kubernetes.stop());

  agent = new Agent(options, {
    nodes: kubernetes.nodes,
    peers: kubernetes.peers,
    patchOwnNode: kubernetes.patchOwnNode,
    host,
    caller: device,
    resolve: (name) => resolver.resolve(name),
    privateKey,
    publicKey,
    version,
    log,
    metrics,
  });
  const { health } = agent;
  const http = await serveHttp({
    listen: options.listen,
    notReady: () => health.reasons(),
    metrics: () => metrics.registry.render(),
  });
  resources.push(() => http.close());
  const forward = new ForwardWatch({ host, log, metrics });
  resources.push(() => forward.stop());
  const names = setInterval(() => resolver.refresh(), REFRESH_NAMES_MS);
  resources.push(() => clearInterval(names));

  log.info("starting", { version, hostname: options.hostname, wireguard: device.kind });
  kubernetes.start();
  agent.start();
  forward.start();
  const running = agent;
  resources.push(() => running.stop());
}

async function connectHost(options: AgentOptions, log: Logger, resources: Resources) {
  const links = new LinkRoles({ mesh: options.interface });
  const device = await createDeviceDriver({
    name: options.interface,
    mode: options.wireguard,
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

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
}
