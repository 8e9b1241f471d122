/** Small clusters that the tests share: kilo.md §5.9 and the base fixtures of the field reports (§0). */
import { type Address, type Prefix, parseAddress, parsePrefix } from "../ip/index.ts";
import {
  type PublicKey,
  parseEndpoint,
  publicKeyFromBytes,
  type SocketEndpoint,
} from "../wireguard/index.ts";
import { ANNOTATIONS } from "./facts/annotations.ts";
import { agentAnnotation } from "./facts/mode.ts";
import { AGENT_ANNOTATION } from "./names.ts";
import type { NodeObject, PeerObject } from "./objects.ts";
import type { LearnedEndpoint, MeshOptions, OwnHost, PlanInput } from "./options.ts";

export const NOW = 1_700_000_000;

export interface NodeSketch {
  readonly name: string;
  readonly endpoint?: string;
  readonly internalIP?: string;
  readonly podCIDR?: string | undefined;
  readonly location?: string;
  readonly key?: PublicKey;
  readonly keepalive?: number;
  /** @default NOW */
  readonly lastSeen?: number;
  /** By short name, e.g. `force-endpoint`; undefined removes one. */
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly podCIDRs?: readonly string[];
  /** Written by Kilo's agent instead of ours. */
  readonly kilo?: boolean;
}

/** A Node object whose agent has just checked in. */
export function node(sketch: NodeSketch): NodeObject {
  const lastSeen = sketch.lastSeen ?? NOW;
  const annotations: Record<string, string | undefined> = {
    [ANNOTATIONS.endpoint]: sketch.endpoint,
    [ANNOTATIONS.internalIP]: sketch.internalIP ?? "",
    [ANNOTATIONS.key]: sketch.key,
    [ANNOTATIONS.location]: sketch.location,
    [ANNOTATIONS.lastSeen]: String(lastSeen),
    [AGENT_ANNOTATION]: sketch.kilo === true ? undefined : agentAnnotation("test", lastSeen),
  };
  if (sketch.keepalive !== undefined) annotations[ANNOTATIONS.persistentKeepalive] = String(sketch.keepalive);
  for (const [name, value] of Object.entries(sketch.annotations ?? {}))
    annotations[`kilo.squat.ai/${name}`] = value;
  const present = Object.entries(annotations).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    metadata: { name: sketch.name, labels: sketch.labels, annotations: Object.fromEntries(present) },
    spec: { podCIDR: sketch.podCIDR, podCIDRs: sketch.podCIDRs },
  };
}

export function peer(name: string, spec: PeerObject["spec"]): PeerObject {
  return { metadata: { name }, spec };
}

/** A key that is easy to tell from others: 32 times the same byte. */
export function key(byte: number): PublicKey {
  return present(publicKeyFromBytes(new Uint8Array(32).fill(byte)));
}

export function prefix(text: string): Prefix {
  return present(parsePrefix(text));
}

export function address(text: string): Address {
  return present(parseAddress(text));
}

export function endpoint(text: string): SocketEndpoint {
  const parsed = parseEndpoint(text);
  if (parsed?.kind !== "address") throw new TypeError(`not a socket endpoint: ${text}`);
  return parsed;
}

export function learned(publicKey: PublicKey, text: string, secondsAgo: number): LearnedEndpoint {
  return { publicKey, endpoint: endpoint(text), latestHandshake: NOW - secondsAgo };
}

/** The cluster of kilo.md §5.9. Its agents are Kilo's unless `ours` is said. */
export function kiloFixture(agents: "kilo" | "ours" = "kilo"): { nodes: NodeObject[]; peers: PeerObject[] } {
  const kilo = agents === "kilo";
  const nodes = [
    node({
      name: "a",
      endpoint: "10.1.0.1:51820",
      internalIP: "192.168.0.1/32",
      location: "1",
      podCIDR: "10.2.1.0/24",
      key: key(1),
      keepalive: 25,
      kilo,
    }),
    node({
      name: "b",
      endpoint: "10.1.0.2:51820",
      internalIP: "192.168.0.1/32",
      location: "2",
      podCIDR: "10.2.2.0/24",
      key: key(2),
      kilo,
      annotations: { "allowed-location-ips": "192.168.178.3/32" },
    }),
    node({
      name: "c",
      endpoint: "10.1.0.3:51820",
      internalIP: "192.168.0.2/32",
      location: "2",
      podCIDR: "10.2.3.0/24",
      key: key(3),
      kilo,
    }),
    node({ name: "d", endpoint: "10.1.0.4:51820", location: "1", podCIDR: "10.2.4.0/24", key: key(4), kilo }),
  ];
  const peers = [
    peer("a", { publicKey: key(4), allowedIPs: ["10.5.0.1/24", "10.5.0.2/24"] }),
    peer("b", {
      publicKey: key(5),
      allowedIPs: ["10.5.0.3/24"],
      endpoint: { dnsOrIP: { ip: "192.168.0.1" }, port: 51820 },
    }),
  ];
  return { nodes, peers };
}

export const K1 = key(1);
export const K2 = key(2);
export const K3 = key(3);
export const KP = key(80);

type Overrides = Readonly<Record<string, Partial<NodeSketch>>>;

/** F3 of the field reports: locations A (a1, a2) and B (b1). Overrides are by node name. */
export function f3(overrides: Overrides = {}): NodeObject[] {
  const sketches: NodeSketch[] = [
    {
      name: "a1",
      location: "A",
      endpoint: "198.51.100.1:51820",
      internalIP: "10.0.1.1/24",
      podCIDR: "10.244.0.0/24",
      key: K1,
    },
    {
      name: "a2",
      location: "A",
      endpoint: "10.0.1.2:51820",
      internalIP: "10.0.1.2/24",
      podCIDR: "10.244.1.0/24",
      key: K2,
    },
    {
      name: "b1",
      location: "B",
      endpoint: "203.0.113.1:51820",
      internalIP: "10.0.2.1/24",
      podCIDR: "10.244.2.0/24",
      key: K3,
    },
  ];
  return sketches.map((sketch) => node({ ...sketch, ...overrides[sketch.name] }));
}

/** F3N: F3 with b1 behind NAT. */
export function f3n(overrides: Overrides = {}): NodeObject[] {
  const b1 = { endpoint: "192.168.1.5:51820", keepalive: 10, ...overrides.b1 };
  return f3({ ...overrides, b1 });
}

/** P1: a laptop. */
export function p1(spec: PeerObject["spec"] = {}): PeerObject {
  return peer("lap", { publicKey: KP, allowedIPs: ["10.5.0.1/32"], persistentKeepalive: 0, ...spec });
}

/** Options as the field reports use them, but without encapsulation: the drivers' own strategy. */
export function meshOptions(options: Partial<MeshOptions> = {}): MeshOptions {
  return {
    subnet: prefix("10.4.0.0/16"),
    granularity: "location",
    encapsulate: "never",
    compatibility: "none",
    local: true,
    topologyLabel: "topology.kubernetes.io/region",
    port: 51820,
    serviceCIDRs: [],
    cni: true,
    routeInternalIP: true,
    ...options,
  };
}

export interface InputSketch extends Partial<Omit<PlanInput, "options" | "own" | "hostname">> {
  readonly options?: Partial<MeshOptions>;
  readonly own?: Partial<OwnHost>;
}

/** The input of a plan: F3, no Peers, no name resolves. */
export function planInput(hostname: string, sketch: InputSketch = {}): PlanInput {
  return {
    now: NOW,
    nodes: f3(),
    peers: [],
    resolve: () => undefined,
    ...sketch,
    hostname,
    options: meshOptions(sketch.options),
    own: { mtu: 1420, learned: [], ...sketch.own },
  };
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError("a fixture cannot be read");
  return value;
}
