/** One agent on twins: a host in memory, a cluster of two maps, and a clock that the test moves. Needs mocked setTimeout, setInterval and Date. */
import assert from "node:assert/strict";
import { mock } from "node:test";
import type { Address } from "../ip/index.ts";
import { createMemoryHost, generateKey, type MemoryHost, publicKeyOf } from "../linux/index.ts";
import type { HostChanges, NodeObject, PeerObject } from "../mesh/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { type DeviceStatus, formatEndpoint, type PublicKey, parseEndpoint } from "../wireguard/index.ts";
import { Agent } from "./agent.ts";
import { FakeCluster, keyOf, nodeOf, prefixOf } from "./cluster.test-kit.ts";
import { createAgentMetrics } from "./metrics.ts";
import type { AgentOptions } from "./options.ts";

/** Milliseconds of one step of the clock: well below the loop's quiet time. */
const STEP_MS = 50;

/** 2026-01-01, in the middle of nothing. */
const START = 1_767_225_600_000;

export interface StageOptions {
  /** @default the three nodes of `threeNodes` */
  readonly nodes?: readonly NodeObject[] | undefined;
  readonly peers?: readonly PeerObject[] | undefined;
  readonly resolve?: ((name: string) => readonly Address[]) | undefined;
  readonly agent?: Partial<AgentOptions> | undefined;
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Takes the clock into the test's hands; call it before each test that makes a stage, and `releaseClock` after it. */
export function holdClock(): void {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: START });
}

export function releaseClock(): void {
  mock.timers.reset();
}

/** Two nodes in place A, of which a1 is the one under test and has a public address; one in place B. All but a1 have checked in. */
export function threeNodes(): NodeObject[] {
  return [
    nodeOf({ name: "a1", location: "A", podCIDR: "10.244.0.0/24" }),
    nodeOf({
      name: "a2",
      location: "A",
      podCIDR: "10.244.1.0/24",
      key: keyOf(2),
      endpoint: "10.0.1.2:51820",
      internalIP: "10.0.1.2/24",
    }),
    nodeOf({
      name: "b1",
      location: "B",
      podCIDR: "10.244.2.0/24",
      key: keyOf(3),
      endpoint: "203.0.113.1:51820",
      internalIP: "10.0.2.1/24",
    }),
  ];
}

export class Stage {
  readonly host: MemoryHost = createMemoryHost({ addresses: ["10.0.1.1/24", "198.51.100.1/24"] });
  readonly cluster: FakeCluster;
  readonly lines: LogLine[] = [];
  /** Peers that were called anew, one list a call. */
  readonly calls: (readonly PublicKey[])[] = [];
  /** Peers that were told where this host is, one list a time. */
  readonly announced: (readonly PublicKey[])[] = [];
  /** What was applied, one entry a pass that had something to do. */
  readonly applied: HostChanges[] = [];
  readonly privateKey = generateKey();
  readonly publicKey = publicKeyOf(this.privateKey);
  /** Whether peers with an endpoint answer. */
  peersAnswer = true;
  /** Peers from which nothing comes any more, although their session has not ended yet. */
  readonly mute = new Set<PublicKey>();
  #keptAlive = 0;
  agent: Agent;
  metrics = createAgentMetrics();
  readonly #options: StageOptions;

  constructor(options: StageOptions = {}) {
    this.#options = options;
    this.cluster = new FakeCluster("a1", options.nodes ?? threeNodes(), options.peers ?? []);
    this.#recordChanges();
    this.agent = this.#makeAgent();
  }

  /** Starts the agent and lets it converge. */
  async converge(): Promise<void> {
    this.agent.start();
    await this.advance(3_000);
    assert.deepEqual(this.agent.health.reasons(), [], "the agent converges");
  }

  /** Ends this agent and starts another one on the same host, as an upgrade does. */
  async restart(): Promise<void> {
    await this.agent.stop();
    this.metrics = createAgentMetrics();
    this.agent = this.#makeAgent();
    this.agent.start();
  }

  /** Lets time pass, in small steps; whatever is due happens in its order. */
  async advance(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += STEP_MS) {
      mock.timers.tick(Math.min(STEP_MS, milliseconds - passed));
      this.cluster.tick();
      if (this.peersAnswer) this.#answer();
      this.#keepAlive();
      await settle();
    }
  }

  /** The API server is back: it is listed anew, and the watch lives again. */
  async reconnect(connection: "up" | "mute" = "up"): Promise<void> {
    this.cluster.connection = connection;
    this.cluster.list();
    this.agent.changed("nodes");
    await this.advance(1_000);
  }

  /** The device as it is. */
  get device(): DeviceStatus {
    const { device } = this.host;
    assert.ok(device, "there is a device");
    return device;
  }

  peer(key: PublicKey) {
    return this.device.peers.find(({ publicKey }) => publicKey === key);
  }

  /** Somebody sent from there: WireGuard learns the endpoint. */
  hear(key: PublicKey, from: string): void {
    const endpoint = parseEndpoint(from);
    assert.ok(endpoint?.kind === "address");
    this.#changePeer(key, { endpoint, latestHandshake: Math.floor(Date.now() / 1000) });
  }

  endpointOf(key: PublicKey): string | undefined {
    const endpoint = this.peer(key)?.endpoint;
    return endpoint && formatEndpoint(endpoint);
  }

  /** Value of a metric's series, 0 when it has none, e.g. `kilomesh_api_writes_total{kind="checkin"}`. */
  metric(series: string): number {
    const line = this.metrics.registry
      .render()
      .split("\n")
      .find((text) => text.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1) ?? 0);
  }

  /** Lines of level warn or error so far. */
  warnings(): LogLine[] {
    return this.lines.filter(({ level }) => level === "warn" || level === "error");
  }

  /** Peers of the device that changes since the n-th apply named, in their order. */
  touchedSince(applies: number): PublicKey[] {
    return this.applied
      .slice(applies)
      .flatMap(({ device }) => (device?.peers ?? []).map((peer) => peer.publicKey));
  }

  #recordChanges(): void {
    const apply = this.host.apply.bind(this.host);
    this.host.apply = (changes, signal) => {
      this.applied.push(changes);
      return apply(changes, signal);
    };
  }

  #makeAgent(): Agent {
    const { cluster } = this;
    const options = { ...DEFAULTS, ...this.#options.agent };
    const agent = new Agent(options, {
      nodes: cluster.source(cluster.nodes),
      peers: cluster.source(cluster.peers),
      host: this.host,
      caller: {
        renew: async (keys) => this.#called(keys),
        announce: async (keys) => this.announced.push([...keys]),
      },
      patchOwnNode: (annotations) => cluster.patchOwnNode(annotations),
      resolve: this.#options.resolve ?? (() => []),
      apiServer: () => [],
      hostnameAddresses: [],
      privateKey: this.privateKey,
      publicKey: this.publicKey,
      version: "1.0.0",
      log: createLogger({ level: "all", write: (line) => this.lines.push(JSON.parse(line)) }),
      metrics: this.metrics,
    });
    cluster.onNode = (change) => agent.nodeChanged(change);
    cluster.onPeer = (what) => agent.changed(what);
    return agent;
  }

  #called(keys: Iterable<PublicKey>): number {
    const list = [...keys];
    this.calls.push(list);
    return list.length;
  }

  /** Peers that can be reached complete a handshake when they have no fresh one, as traffic and keepalives make them. */
  #answer(): void {
    const now = Math.floor(Date.now() / 1000);
    for (const { publicKey, endpoint, latestHandshake } of this.host.device?.peers ?? []) {
      if (endpoint !== undefined && now - latestHandshake >= 120)
        this.#changePeer(publicKey, { latestHandshake: now });
    }
  }

  /** Who has a session sends a packet every 10 s, as a keepalive does. */
  #keepAlive(): void {
    const period = Math.floor(Date.now() / 10_000);
    if (period === this.#keptAlive) return;
    this.#keptAlive = period;
    for (const { publicKey, latestHandshake, receivedBytes } of this.host.device?.peers ?? []) {
      if (latestHandshake > 0 && !this.mute.has(publicKey))
        this.#changePeer(publicKey, { receivedBytes: receivedBytes + 32 });
    }
  }

  #changePeer(key: PublicKey, fields: Partial<DeviceStatus["peers"][number]>): void {
    const peers = this.device.peers.map((peer) => (peer.publicKey === key ? { ...peer, ...fields } : peer));
    this.host.device = { ...this.device, peers };
  }
}

const DEFAULTS: AgentOptions = {
  mesh: {
    subnet: prefixOf("10.4.0.0/16"),
    granularity: "location",
    encapsulate: "never",
    compatibility: "none",
    local: true,
    topologyLabel: "topology.kubernetes.io/region",
    port: 51820,
    serviceCIDRs: [],
    cni: true,
    routeInternalIP: true,
  },
  hostname: "a1",
  interface: "kilo0",
  wireguard: "auto",
  createInterface: true,
  listen: ":1107",
  mtu: "auto",
  resyncPeriod: 30,
  internalCIDRs: [],
  prioritisePrivateAddresses: false,
  cniPath: "/dev/null",
  stateFolder: "/dev/null",
  logLevel: "none",
};

/** Lets everything that waits for nothing but other code come to its end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
