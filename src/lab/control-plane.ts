/** The control plane of a lab: the embedded API server on its own host, credentials for people and nodes, and the cluster's first objects. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiClient } from "./api-client.ts";
import { type Certificates, type KeyPair, makeCertificates } from "./apiserver/certificates.ts";
import { type ApiObject, leaseObject, nodeObject, peerObject } from "./cluster-objects.ts";
import type { Daemon } from "./daemon.ts";
import { LabError } from "./errors.ts";
import { KUBECONFIG, type LabHost } from "./host.ts";
import { DISK_FOLDERS } from "./namespace.ts";
import { type Relay, startRelay } from "./relay.ts";
import type { StateFolder } from "./state-folder.ts";
import type { Underlay } from "./underlay.ts";
import { generateKeyPair } from "./wireguard-keys.ts";

export interface ControlPlaneOptions {
  readonly host: LabHost;
  readonly hosts: readonly LabHost[];
  readonly underlay: Underlay;
  readonly state: StateFolder;
  readonly program: string;
  /** Ends the start. */
  readonly signal?: AbortSignal | undefined;
}

/** What the hidden verb `lab apiserver` reads from its file. */
export interface ApiServerSettings {
  /** Address and port to listen on. */
  readonly address: string;
  readonly port: number;
  /** UNIX socket that leads to the same server. */
  readonly socketPath: string;
  readonly ca: string;
  readonly server: { readonly cert: string; readonly key: string };
}

const NODES = "/api/v1/nodes";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const PEERS = "/apis/kilo.squat.ai/v1alpha1/peers";

/** Milliseconds that the API server may take to answer for the first time; it takes some 200. */
const START_TIMEOUT = 15_000;

export class ControlPlane {
  /** The usual port of an API server. */
  static readonly PORT = 6443;

  readonly api: ApiClient;
  /** Kubeconfig with which people on the machine administer the lab's cluster. */
  readonly kubeconfig: string;
  readonly #daemon: Daemon;
  readonly #relay: Relay;
  readonly #peerKeys: ReadonlyMap<string, string>;

  private constructor(
    api: ApiClient,
    kubeconfig: string,
    daemon: Daemon,
    relay: Relay,
    peerKeys: ReadonlyMap<string, string>,
  ) {
    this.api = api;
    this.kubeconfig = kubeconfig;
    this.#daemon = daemon;
    this.#relay = relay;
    this.#peerKeys = peerKeys;
  }

  /** Starts the server, and makes the Node and Peer objects of all hosts. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { host, hosts, state, program, signal } = options;
    const address = host.placed.publicAddress;
    if (address === undefined)
      throw new LabError("scenario", `cannot start the API server on ${host.name}: no public address`);
    const nodes = hosts.filter((candidate) => candidate.placed.spec.role?.kind === "node");
    const certificates = await makeCertificates(state.folder("pki"), {
      hosts: ["localhost", "127.0.0.1", address],
      clients: [
        { name: "admin", groups: ["system:masters"] },
        ...nodes.map((node) => ({ name: userOf(node), groups: ["system:nodes"] })),
      ],
    });
    const socketPath = join(state.path, "api.sock");
    const { ca, server } = certificates;
    const settings: ApiServerSettings = { address, port: ControlPlane.PORT, socketPath, ca, server };
    const file = state.write("apiserver.json", JSON.stringify(settings));
    const daemon = await host.startDaemon("apiserver", [process.execPath, program, "apiserver", file]);

    const admin = clientKey(certificates, "admin");
    const api = new ApiClient({ socketPath, ca, ...admin });
    await waitUntilReady(api, socketPath, daemon, signal);
    const peerKeys = await createObjects(api, hosts);
    signal?.throwIfAborted();
    // Last of what can fail: a relay that nobody closes would keep the lab's process.
    const relay = await startRelay({ host: "127.0.0.1", port: 0 }, { path: socketPath });
    const kubeconfig = state.write(
      "kubeconfig",
      kubeconfigText(`https://127.0.0.1:${relay.port}`, ca, admin),
    );
    for (const node of nodes) {
      const text = kubeconfigText(
        `https://${address}:${ControlPlane.PORT}`,
        ca,
        clientKey(certificates, userOf(node)),
      );
      writeFileSync(join(options.underlay.diskFolder(node.name, etcKubernetes()), "kubelet.conf"), text, {
        mode: 0o600,
      });
    }
    return new ControlPlane(api, kubeconfig, daemon, relay, peerKeys);
  }

  /** Private key of an external peer of the scenario, in base64. */
  peerKey(name: string): string {
    const key = this.#peerKeys.get(name);
    if (key === undefined)
      throw new LabError("missing", `cannot find the key of peer ${name}: none in the scenario`);
    return key;
  }

  /** All Nodes and Peers as one `kind: List`, as `kubectl get nodes,peers -o json` prints them. */
  async objects(): Promise<{ kind: "List"; apiVersion: "v1"; items: ApiObject[] }> {
    const lists = await Promise.all([
      this.#list(NODES, "v1", "Node"),
      this.#list(PEERS, "kilo.squat.ai/v1alpha1", "Peer"),
    ]);
    return { kind: "List", apiVersion: "v1", items: lists.flat() };
  }

  /** Merges a patch into a Node, e.g. annotations; null removes. */
  async patchNode(name: string, patch: unknown): Promise<void> {
    await this.api.expect("PATCH", `${NODES}/${name}`, patch, "application/merge-patch+json");
  }

  /** Renews the leases of nodes, as their kubelets would every 10 s; a lab by itself does not. */
  async renewLeases(nodes: readonly string[]): Promise<void> {
    const patch = { spec: { renewTime: microTime() } };
    for (const node of nodes)
      await this.api.expect("PATCH", `${LEASES}/${node}`, patch, "application/merge-patch+json");
  }

  /** Resolves with the server's status when it has ended. Its objects were in memory: they are gone then. */
  get ended(): Promise<number> {
    return this.#daemon.ended;
  }

  /** The server stops answering, connections stay open: a hung API server. Gives the function that heals it. */
  freeze(): () => void {
    this.#daemon.signal("SIGSTOP");
    return () => this.#daemon.signal("SIGCONT");
  }

  /** Ends the way in from the machine; the server itself ends with its host. Idempotent. */
  close(): Promise<void> {
    return this.#relay.close();
  }

  async #list(path: string, apiVersion: string, kind: string): Promise<ApiObject[]> {
    const list = (await this.api.expect("GET", path)) as { items: ApiObject[] };
    return list.items.map((item) => ({ ...item, apiVersion, kind }));
  }
}

async function waitUntilReady(
  api: ApiClient,
  socketPath: string,
  daemon: Daemon,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT;
  for (;;) {
    if (existsSync(socketPath)) {
      const reply = await api.send("GET", "/readyz").catch(() => undefined);
      if (reply?.status === 200) return;
    }
    if (!daemon.running || Date.now() > deadline) {
      throw new LabError(
        "process",
        `cannot start the API server: ${daemon.running ? "not ready" : "it ended"}\n${daemon.tail()}`,
      );
    }
    await sleep(10, undefined, { signal });
  }
}

async function createObjects(
  api: ApiClient,
  hosts: readonly LabHost[],
): Promise<ReadonlyMap<string, string>> {
  const peerKeys = new Map<string, string>();
  for (const { placed } of hosts) {
    const role = placed.spec.role;
    if (role?.kind === "node") {
      await api.expect("POST", NODES, nodeObject(placed, role, new Date().toISOString()));
      await api.expect("POST", LEASES, leaseObject(placed.name, microTime()));
    }
    if (role?.kind === "peer") {
      const pair = generateKeyPair();
      peerKeys.set(placed.name, pair.privateKey);
      await api.expect("POST", PEERS, peerObject(placed.name, role, pair.publicKey));
    }
  }
  return peerKeys;
}

/** Now, as leases have it: RFC 3339 with six decimals (Kubernetes, MicroTime). */
function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}

/** A kubelet's user name (Kubernetes, node authorization). */
function userOf(node: LabHost): string {
  return `system:node:${node.name}`;
}

function clientKey(certificates: Certificates, name: string): KeyPair {
  const pair = certificates.clients[name];
  if (pair === undefined)
    throw new LabError("missing", `cannot write a kubeconfig: no certificate of ${name}`);
  return pair;
}

function etcKubernetes(): string {
  const folder = DISK_FOLDERS[KUBECONFIG.slice(0, KUBECONFIG.lastIndexOf("/"))];
  if (folder === undefined)
    throw new LabError("missing", `cannot write a kubeconfig: ${KUBECONFIG} is on no disk`);
  return folder;
}

function kubeconfigText(server: string, ca: string, client: KeyPair): string {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  const user = { "client-certificate-data": encode(client.cert), "client-key-data": encode(client.key) };
  const configuration = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "lab", cluster: { server, "certificate-authority-data": encode(ca) } }],
    users: [{ name: "lab", user }],
    contexts: [{ name: "lab", context: { cluster: "lab", user: "lab" } }],
    "current-context": "lab",
  };
  return `${JSON.stringify(configuration, undefined, 2)}\n`;
}
