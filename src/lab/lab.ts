/** The lab itself: a scenario made real, and everything that can be done to it. */
import type { PlacedHost } from "./addressing.ts";
import { INTERNET } from "./blueprint.ts";
import { Capture, leakFilter } from "./capture.ts";
import type { Site } from "./command.ts";
import { ControlPlane } from "./control-plane.ts";
import { LabError } from "./errors.ts";
import { Faults } from "./faults.ts";
import { LabHost } from "./host.ts";
import type { PathEnd } from "./paths.ts";
import type { Pod } from "./pod.ts";
import { checkMachine, requireProgram } from "./preflight.ts";
import type { Scenario } from "./scenario.ts";
import { StateFolder } from "./state-folder.ts";
import { PingStream } from "./stream.ts";
import { Underlay } from "./underlay.ts";

export interface LabOptions {
  /** Path of the built `lab` program; its hidden verbs run inside the lab. */
  readonly program: string;
  /** Command line of `kg` without flags. */
  readonly kg: readonly string[];
  /** Who serves WireGuard on external peers; `kernel` needs the module. @default "userspace" */
  readonly wireguard?: "userspace" | "kernel" | undefined;
  /** Ends the start of the lab, which rejects then and leaves nothing; a lab that has started does not mind it. */
  readonly signal?: AbortSignal | undefined;
  /** Hears what is being done, in a few words. */
  readonly report?: ((step: string) => void) | undefined;
}

/** MTU of pods and of the mesh link, where the lab has to know it before there is a pod: 1500 less 80 for WireGuard (kilo.md §9.3). */
const MESH_MTU = 1420;

export class Lab {
  readonly scenario: Scenario;
  readonly underlay: Underlay;
  readonly faults: Faults;
  readonly state: StateFolder;
  readonly options: LabOptions;
  /** All hosts, in the order of the scenario. */
  readonly hosts: readonly LabHost[];
  #controlPlane: ControlPlane | undefined;
  #files = 0;
  #stopped: Promise<void> | undefined;

  private constructor(scenario: Scenario, options: LabOptions, state: StateFolder) {
    this.scenario = scenario;
    this.options = options;
    this.state = state;
    this.underlay = new Underlay(scenario, state);
    this.faults = new Faults(this.underlay);
    this.hosts = this.underlay.blueprint.hosts.map((placed) => this.#makeHost(placed));
  }

  /**
   * Builds a scenario: namespaces, links, and the control plane with its Node and Peer objects where the scenario has one. No `kg` runs yet.
   * @throws LabError, ScenarioError; nothing is left then
   */
  static async start(scenario: Scenario, options: LabOptions): Promise<Lab> {
    const { signal } = options;
    checkMachine(options.wireguard ?? "userspace");
    signal?.throwIfAborted();
    const state = StateFolder.create();
    let lab: Lab | undefined;
    try {
      lab = new Lab(scenario, options, state);
      options.report?.("network namespaces, cables and routers");
      await lab.underlay.build();
      signal?.throwIfAborted();
      const host = lab.hosts.find((candidate) => candidate.placed.spec.role?.kind === "control-plane");
      if (host !== undefined) {
        options.report?.("API server with Node and Peer objects");
        lab.#controlPlane = await ControlPlane.start({
          host,
          hosts: lab.hosts,
          underlay: lab.underlay,
          state,
          program: options.program,
          signal,
        });
      }
      return lab;
    } catch (error) {
      await lab?.stop();
      state.remove();
      throw error;
    }
  }

  /** @throws LabError `missing` */
  host(name: string): LabHost {
    const host = this.hosts.find((candidate) => candidate.name === name);
    if (host === undefined) throw new LabError("missing", `cannot find host: none is called ${name}`);
    return host;
  }

  /** Hosts that are Kubernetes nodes. */
  get nodes(): LabHost[] {
    return this.hosts.filter((host) => host.placed.spec.role?.kind === "node");
  }

  /** Hosts that are external peers. */
  get peers(): LabHost[] {
    return this.hosts.filter((host) => host.placed.spec.role?.kind === "peer");
  }

  /** @throws LabError `missing` in a scenario without one */
  get controlPlane(): ControlPlane {
    if (this.#controlPlane === undefined) {
      throw new LabError(
        "missing",
        `cannot reach the control plane: scenario ${this.scenario.name} has none`,
      );
    }
    return this.#controlPlane;
  }

  /** Starts `kg` on all nodes at once, with the same flags. */
  async startKg(flags: readonly string[]): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.startKg({ flags })));
  }

  /** A pod on every node, called `pod-` and the node's name, as ends of paths. @param timeout milliseconds to wait for CNI configurations */
  async addPodOnEveryNode(timeout = 30_000, signal?: AbortSignal): Promise<Pod[]> {
    return Promise.all(this.nodes.map((node) => node.addPod(`pod-${node.name}`, timeout, signal)));
  }

  /** A host itself as an end of paths, by the address its place knows it by, or by another one of its addresses. */
  async hostEnd(host: LabHost, address = host.address, mtu = MESH_MTU): Promise<PathEnd> {
    return { name: host.name, address, mtu, prober: await host.prober() };
  }

  /** Starts a stream of 100 pings a second. */
  stream(from: { readonly site: Site }, to: string): Promise<PingStream> {
    return PingStream.start(from.site, to, this.file("ping"));
  }

  /** Captures on the links of a namespace: a host's, a place's, or `internet`. */
  async capture(namespace: string, filter?: string, link?: string): Promise<Capture> {
    requireProgram("tcpdump", "capture packets");
    return Capture.start({
      site: this.underlay.namespace(namespace),
      filter,
      link,
      log: this.file("capture"),
    });
  }

  /** Captures what must never be seen between places (see `leakFilter`). A lab without leaks captures nothing. */
  captureLeaks(meshPrefixes: readonly string[]): Promise<Capture> {
    return this.capture(INTERNET, leakFilter(meshPrefixes, [ControlPlane.PORT]));
  }

  /** Path for a new file in the lab's folder. */
  file(name: string): string {
    this.#files += 1;
    return `${this.state.folder("files")}/${name}.${this.#files}`;
  }

  /** Ends everything and removes every trace. Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= this.#takeDown();
    return this.#stopped;
  }

  async #takeDown(): Promise<void> {
    await this.#controlPlane?.close();
    await this.underlay.destroy();
    this.state.remove();
  }

  #makeHost(placed: PlacedHost): LabHost {
    return new LabHost(placed, {
      underlay: this.underlay,
      program: this.options.program,
      kg: this.options.kg,
      file: (name) => `${this.state.folder("hosts", placed.name)}/${name}`,
    });
  }
}
