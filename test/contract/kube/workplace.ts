/** The server and client of one group of contract tests, with names and a label that nobody else uses. */
import { randomBytes } from "node:crypto";
import {
  type ClusterConfig,
  CUSTOM_RESOURCE_DEFINITIONS,
  createKubeClient,
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
  NODES,
  PEER_CRD,
  PEERS,
  type RawObject,
  type Resource,
} from "../../../src/kube/index.ts";
import type { ServerUnderTest } from "../kube.ts";

const LABEL = "kilomesh.io/contract";

export interface Workplace {
  readonly server: ServerUnderTest;
  readonly client: KubeClient;
  /** Selects the objects of this group. */
  readonly labelSelector: string;
  /** A name that only this group has: `contract-1f2e3d-a`. */
  name(suffix: string): string;
  /** Metadata with such a name and the group's label. */
  metadata(suffix: string): { name: string; labels: Record<string, string> };
  /** Creates Nodes with such names. */
  createNodes(...suffixes: string[]): Promise<RawObject[]>;
  /** Creates an object, and remembers to take it away. */
  create<T extends KubeObject>(resource: Resource<T>, object: T): Promise<T>;
  /** A client with other credentials; closed with the others. */
  connect(config: Partial<ClusterConfig>): KubeClient;
  close(): Promise<void>;
}

/** Brings up a server with the Peer CRD on it. */
export async function openWorkplace(open: () => Promise<ServerUnderTest>): Promise<Workplace> {
  const server = await open();
  const run = randomBytes(3).toString("hex");
  const clients: KubeClient[] = [];
  const made: (() => Promise<void>)[] = [];

  const connect = (config: Partial<ClusterConfig>) => {
    const client = createKubeClient({ config: { ...server.config, ...config } });
    clients.push(client);
    return client;
  };
  const client = connect({});
  await installPeers(client);

  const name = (suffix: string) => `contract-${run}-${suffix}`;
  const metadata = (suffix: string) => ({ name: name(suffix), labels: { [LABEL]: run } });
  const create = async <T extends KubeObject>(resource: Resource<T>, object: T): Promise<T> => {
    const { namespace, name: made_name } = object.metadata;
    made.push(() => client.delete(resource, made_name, { namespace }).catch(unlessNotFound));
    return await client.create(resource, object);
  };
  return {
    server,
    client,
    labelSelector: `${LABEL}=${run}`,
    name,
    metadata,
    create,
    createNodes: (...suffixes) =>
      Promise.all(suffixes.map((suffix) => create(NODES, { metadata: metadata(suffix) }))),
    connect,
    async close() {
      for (const remove of made.splice(0)) await remove();
      for (const each of clients) each.close();
      await server.close();
    },
  };
}

/** A Peer that the schema takes. */
export function peerSpec(publicKey = "dGhpcyBpcyAzMiBieXRlcyBmb3IgYSBwdWJsaWMga2U="): {
  allowedIPs: string[];
  publicKey: string;
} {
  return { allowedIPs: ["10.5.0.1/32"], publicKey };
}

/** Waits until the condition holds; rejects with what is awaited after so many milliseconds. */
export async function eventually(
  what: string,
  condition: () => boolean,
  milliseconds = 10_000,
): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited ${milliseconds} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function installPeers(client: KubeClient): Promise<void> {
  try {
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, PEER_CRD);
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
  await listable(client, 20_000);
}

/** A server serves a new resource some time after its CRD was made. */
async function listable(client: KubeClient, milliseconds: number): Promise<void> {
  const end = Date.now() + milliseconds;
  for (;;) {
    try {
      await client.list(PEERS);
      return;
    } catch (error) {
      if (!isNotFound(error) || Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
