/** Changes of single objects, and which WireGuard peers each of them touches beside those that it is about. */
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntilStill } from "../../src/lab/index.ts";
import type { DemoMesh, Device } from "./demo-mesh.ts";

/** One change, and the public keys of the peers that it is about. */
interface Change {
  readonly name: string;
  readonly about: readonly string[];
  /** Nodes that begin or cease to lead: they get or lose every peer. */
  readonly leaders?: readonly string[] | undefined;
  readonly make: () => Promise<unknown>;
}

const PEERS = "/apis/kilo.squat.ai/v1alpha1/peers";

/** Of a peer that nobody is. */
const NEWCOMER = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/** From TEST-NET-2 (RFC 5737): nothing in the lab answers there. */
const ELSEWHERE = "198.51.100.9";

const MERGE = "application/merge-patch+json";

/**
 * Makes the changes one by one. Resolves to the peers that were touched although the change was not about them, as `change: node, key`. The mesh is
 * afterwards as it was before.
 * @throws Error when a change does not touch the peers that it is about: it would prove nothing
 */
export async function changeObjects(mesh: DemoMesh): Promise<readonly string[]> {
  const others: string[] = [];
  for (const change of [...peerChanges(mesh), ...(await nodeChanges(mesh))]) {
    others.push(...(await othersTouchedBy(mesh, change)));
  }
  await annotate(mesh, "south-1", "force-endpoint", null);
  await annotate(mesh, "north-2", "leader", null);
  await settle(mesh);
  await mesh.waitForAllPaths();
  return others;
}

function peerChanges(mesh: DemoMesh): readonly Change[] {
  const { api } = mesh.lab.controlPlane;
  const about = [NEWCOMER];
  const patch = (spec: object) => api.expect("PATCH", `${PEERS}/newcomer`, { spec }, MERGE);
  const newcomer = {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "Peer",
    metadata: { name: "newcomer" },
    spec: { publicKey: NEWCOMER, allowedIPs: ["10.5.0.7/32"] },
  };
  return [
    { name: "new Peer", about, make: () => api.expect("POST", PEERS, newcomer) },
    { name: "Peer's allowedIPs", about, make: () => patch({ allowedIPs: ["10.5.0.8/32"] }) },
    {
      name: "Peer's endpoint",
      about,
      make: () => patch({ endpoint: { dnsOrIP: { ip: ELSEWHERE }, port: 51820 } }),
    },
    { name: "Peer deleted", about, make: () => api.expect("DELETE", `${PEERS}/newcomer`) },
  ];
}

async function nodeChanges(mesh: DemoMesh): Promise<readonly Change[]> {
  const [north1, north2, south1] = await Promise.all(
    ["north-1", "north-2", "south-1"].map((name) => keyOf(mesh, name)),
  );
  const set = (node: string, annotation: string, text: string | null) => () =>
    annotate(mesh, node, annotation, text);
  const about = [south1 ?? ""];
  return [
    { name: "allowed-location-ips", about, make: set("south-1", "allowed-location-ips", "10.2.0.200/32") },
    { name: "allowed-location-ips off", about, make: set("south-1", "allowed-location-ips", null) },
    { name: "force-endpoint", about, make: set("south-1", "force-endpoint", `${ELSEWHERE}:51820`) },
    {
      name: "leader",
      about: [north1 ?? "", north2 ?? ""],
      leaders: ["north-1", "north-2"],
      make: set("north-2", "leader", "true"),
    },
  ];
}

async function othersTouchedBy(
  mesh: DemoMesh,
  { name, about, leaders = [], make }: Change,
): Promise<string[]> {
  const before = await mesh.devices();
  await make();
  await settle(mesh);
  const after = await mesh.devices();
  const touched = [...before]
    .filter(([node]) => !leaders.includes(node))
    .flatMap(([node, device]) =>
      touchedPeers(device, after.get(node) ?? new Map()).map((key) => ({ node, key })),
    );
  const untouched = about.find((key) => touched.every((peer) => peer.key !== key));
  if (untouched !== undefined) throw new Error(`${name} does not touch the peer ${untouched} on any node`);
  return touched
    .filter(({ key }) => !about.includes(key))
    .map(({ node, key }) => `${name}: ${node}, peer ${key}`);
}

/** Peers that are new, gone or configured otherwise, or that have lost their session. */
function touchedPeers(before: Device, after: Device): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    if (was === undefined || is === undefined || was.configuration !== is.configuration) return true;
    return is.latestHandshake < was.latestHandshake || is.receivedBytes < was.receivedBytes;
  });
}

async function settle(mesh: DemoMesh): Promise<void> {
  await sleep(1_000);
  await waitUntilStill(mesh.lab.nodes);
}

function annotate(mesh: DemoMesh, node: string, name: string, text: string | null): Promise<unknown> {
  const annotations = { [`kilo.squat.ai/${name}`]: text };
  return mesh.lab.controlPlane.patchNode(node, { metadata: { annotations } });
}

async function keyOf(mesh: DemoMesh, name: string): Promise<string> {
  const { items } = await mesh.lab.controlPlane.objects();
  const node = items.find(({ kind, metadata }) => kind === "Node" && metadata.name === name);
  const key = (node?.metadata.annotations as Readonly<Record<string, string>> | undefined)?.[
    "kilo.squat.ai/key"
  ];
  if (key === undefined) throw new Error(`Node ${name} has no key`);
  return key;
}
