/** The agent's view of the API server: nodes, Peers, and the own Node to write. */
import {
  type Change,
  createKubeClient,
  createReflector,
  type KubeClient,
  loadClusterConfig,
  NODES,
  PEERS,
  projectNode,
  projectPeer,
  type Reflector,
  type ReflectorStatus,
} from "../kube/index.ts";
import type { NodeObject, PeerObject } from "../mesh/index.ts";
import { createWarnOnce, type Logger, type WarnOnce } from "../telemetry/index.ts";
import type { AgentOptions } from "./options.ts";

export interface Kubernetes {
  readonly nodes: Reflector<NodeObject>;
  readonly peers: Reflector<PeerObject>;
  /** Name or address of the API server; undefined for a socket of this host. */
  readonly serverHost: string | undefined;
  patchOwnNode(annotations: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface KubernetesEvents {
  /** A Node came, changed or went. */
  readonly onNode: (change: Change<NodeObject>) => void;
  /** A Peer did, or a list is complete. */
  readonly onChange: (what: string) => void;
  /** A list or watch failed. */
  readonly onFailed: () => void;
}

/**
 * Reads the credentials and makes the client; nothing is asked before `start`. From then on it goes on by itself through whatever
 * failure, also while the Peer CRD is not there yet (reports K-09, K-86).
 * @throws ConfigError
 */
export function connectKubernetes(options: AgentOptions, log: Logger, events: KubernetesEvents): Kubernetes {
  const config = loadClusterConfig({ kubeconfig: options.kubeconfig, master: options.master });
  const client = createKubeClient({ config, userAgent: "kg" });
  const told = createWarnOnce(log);
  const tell = (resource: string, status: ReflectorStatus) => {
    tellStatus(log, told, resource, status);
    if (status.kind === "failed") events.onFailed();
  };
  const nodes = createReflector<NodeObject>({
    client,
    resource: NODES,
    watchList: true,
    project: projectNode(options.mesh.topologyLabel),
    onChange: events.onNode,
    onSynced: () => events.onChange("nodes"),
    onStatus: (status) => tell("nodes", status),
  });
  const peers = createReflector<PeerObject>({
    client,
    resource: PEERS,
    watchList: true,
    project: projectPeer,
    onChange: ({ name }) => events.onChange(`peer ${name}`),
    onSynced: () => events.onChange("peers"),
    onStatus: (status) => tell("peers", status),
  });
  return {
    nodes,
    peers,
    serverHost: hostOf(config.server),
    patchOwnNode: (annotations, signal) => patchAnnotations(client, options.hostname, annotations, signal),
    start() {
      nodes.start();
      peers.start();
    },
    async stop() {
      await Promise.all([nodes.stop(), peers.stop()]);
      client.close();
    },
  };
}

function hostOf(server: string): string | undefined {
  const { hostname } = new URL(server);
  return hostname === "" ? undefined : hostname.replace(/^\[|\]$/g, "");
}

/** Sets annotations of a Node and touches nothing else; `null` removes one. */
export async function patchAnnotations(
  client: KubeClient,
  name: string,
  annotations: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
): Promise<void> {
  await client.patch(NODES, name, { metadata: { annotations } }, { kind: "merge", signal });
}

/** A spell of failures is told once, and its end: while the API server is away, each list and watch fails every few seconds. */
function tellStatus(log: Logger, told: WarnOnce, resource: string, status: ReflectorStatus): void {
  switch (status.kind) {
    case "failed":
      told.raise({
        key: resource,
        message: "cannot list and watch; what is known stays",
        context: { resource, error: status.error },
      });
      break;
    case "live":
    case "synced":
      told.clear(resource);
      break;
    case "left-out":
      log.warn("object left out", { resource, name: status.name, error: status.error });
      break;
  }
  log.debug("watch", { resource, ...status });
}
