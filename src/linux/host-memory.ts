/** The in-memory twin of the host driver: same promises, no kernel. Counts mutating calls, and fails where a test wants it to. */

import { type InterfaceAddress, parseInterfaceAddress } from "../ip/index.ts";
import {
  applyToFirewall,
  type CniState,
  type Firewall,
  type FirewallChange,
  type HostChanges,
  type HostState,
  type LinkChange,
  type LinkRole,
  ROUTE_PROTOCOL,
  type Route,
} from "../mesh/index.ts";
import {
  applyDeviceChange,
  type DeviceStatus,
  EMPTY_DEVICE,
  isEmptyDeviceChange,
} from "../wireguard/index.ts";
import { refusal } from "./host-failure.ts";
import { MemoryForwarding } from "./host-memory-forwarding.ts";
import { attempt, type FaultInjector, MemoryKernel, type MemoryLink } from "./host-memory-kernel.ts";
import { LinkRoles } from "./link-names.ts";
import type { ApplyFailure, DriftEvent, HostDriver, HostFacts, Removal } from "./ports.ts";
import { formatRoute } from "./routes.ts";
import { formatRule } from "./rules.ts";

export interface MemoryHostOptions {
  /** @default mesh "kilo0", private "eth0" */
  readonly links?: LinkRoles | undefined;
  /** Addresses of the private link, as `address/length`. @default 10.0.0.1/24 */
  readonly addresses?: readonly string[] | undefined;
  /** MTU of the private link, in bytes. @default 1500 */
  readonly mtu?: number | undefined;
}

/** How often a twin was used. */
export interface HostCounters {
  /** Mutating kernel calls that were carried out, as the real driver would make them. */
  readonly mutations: number;
  /** Calls of `apply` that had something to do. */
  readonly applies: number;
  readonly reads: number;
  readonly cniWrites: number;
}

/** The twin, with what a test needs beside the driver. */
export interface MemoryHost extends HostDriver {
  readonly counters: HostCounters;
  /** The kernel's part, for tests to look at. */
  readonly kernel: MemoryKernel;
  /** The device, as long as the mesh link exists. Write it to play handshakes and learned endpoints. */
  device: DeviceStatus | undefined;
  firewall: Firewall | undefined;
  cni: CniState | undefined;
  /** What keeps it from forwarding packets, as others make it. */
  readonly forwarding: MemoryForwarding;
  /** The device reads back without peers (report K-23: a userspace WireGuard that did). */
  losePeersOnRead: boolean;
  /** Refuses mutating calls; undefined ends it. */
  failWhen(fault: FaultInjector | undefined): void;
  /** Somebody else changes the host: not counted, and told to listeners as `kind`. */
  changedByOthers(kind: DriftEvent["kind"], work?: (kernel: MemoryKernel) => void): void;
}

/** A host in memory, with a private link and no mesh link. */
export function createMemoryHost(options: MemoryHostOptions = {}): MemoryHost {
  return new HostInMemory(options);
}

class HostInMemory implements MemoryHost {
  readonly kernel = new MemoryKernel();
  readonly forwarding = new MemoryForwarding();
  device: DeviceStatus | undefined;
  firewall: Firewall | undefined;
  cni: CniState | undefined;
  losePeersOnRead = false;
  readonly #names: LinkRoles;
  readonly #listeners = new Set<(event: DriftEvent) => void>();
  #applies = 0;
  #reads = 0;
  #cniWrites = 0;

  constructor(options: MemoryHostOptions) {
    this.#names = options.links ?? new LinkRoles({ mesh: "kilo0", private: "eth0" });
    const name = this.#names.nameOf("private");
    if (name === undefined) return;
    const addresses = (options.addresses ?? ["10.0.0.1/24"]).map(requireAddress);
    this.kernel.links.set("private", { name, up: true, mtu: options.mtu ?? 1500, addresses });
  }

  get mutations(): number {
    return this.kernel.mutations;
  }

  get counters(): HostCounters {
    return {
      mutations: this.kernel.mutations,
      applies: this.#applies,
      reads: this.#reads,
      cniWrites: this.#cniWrites,
    };
  }

  async read(): Promise<HostState> {
    this.#reads++;
    const mesh = this.kernel.links.get("mesh");
    const device = await this.readDevice();
    const tunnel = this.kernel.links.get("tunnel");
    return {
      mesh: mesh === undefined || device === undefined ? undefined : { ...readLink(mesh), device },
      tunnel: tunnel === undefined ? undefined : readLink(tunnel),
      routes: this.#ownRoutes(),
      rules: [...this.kernel.rules],
      firewall: this.firewall,
      cni: this.cni,
    };
  }

  async readDevice(): Promise<DeviceStatus | undefined> {
    if (this.device === undefined || !this.kernel.links.has("mesh")) return undefined;
    return this.losePeersOnRead ? { ...this.device, peers: [] } : this.device;
  }

  async facts(): Promise<HostFacts> {
    const links = [...this.kernel.links.values()].map((link, index) => ({
      index: index + 2,
      name: link.name,
      kind: link.kind,
      up: link.up,
      loopback: false,
      mtu: link.mtu,
      addresses: [...link.addresses],
    }));
    const uplink = this.kernel.links.get("private");
    const defaultRoute = uplink === undefined ? undefined : { link: uplink.name, mtu: uplink.mtu };
    return { links, defaultRoute };
  }

  async foreignForwardDrops(): Promise<readonly string[]> {
    return this.forwarding.drops;
  }

  async forwardsPackets(): Promise<boolean> {
    return this.forwarding.isOn;
  }

  watchForwarding(listener: () => void): () => void {
    return this.forwarding.watch(listener);
  }

  setPrivateLink(name: string | undefined): void {
    this.#names.set("private", name);
  }

  failWhen(fault: FaultInjector | undefined): void {
    this.kernel.fault = fault;
  }

  changedByOthers(kind: DriftEvent["kind"], work: (kernel: MemoryKernel) => void = () => undefined): void {
    const { mutations, fault } = this.kernel;
    this.kernel.fault = undefined;
    work(this.kernel);
    this.kernel.fault = fault;
    this.kernel.mutations = mutations;
    for (const listener of this.#listeners) listener({ kind });
  }

  watch(listener: (event: DriftEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#listeners.clear();
    this.forwarding.close();
  }

  async apply(changes: HostChanges, signal: AbortSignal): Promise<readonly ApplyFailure[]> {
    signal.throwIfAborted();
    const failures: ApplyFailure[] = [];
    const before = this.kernel.mutations;
    this.#applyMesh(changes, failures);
    if (changes.tunnel !== undefined) this.#changeLink("tunnel", changes.tunnel, failures);
    this.#applyRoutes(changes.setRoutes, failures, (route, text) => this.kernel.setRoute(route, text));
    this.#applyRules(changes.addRules, failures, (rule, text) => this.kernel.addRule(rule, text));
    this.#applyFirewall(changes.firewall, failures);
    this.#applyRoutes(changes.removeRoutes, failures, (route, text) => this.kernel.removeRoute(route, text));
    this.#applyRules(changes.removeRules, failures, (rule, text) => this.kernel.removeRule(rule, text));
    this.#writeCni(changes.cni);
    if (this.kernel.mutations > before || failures.length > 0) this.#applies++;
    return failures;
  }

  async removeEverything(): Promise<Removal> {
    const failures: ApplyFailure[] = [];
    const routes = this.#ownRoutes();
    const removed = routes.map((route) => `route ${this.#routeText(route)}`);
    removed.push(...this.kernel.rules.map((rule) => `rule ${this.#ruleText(rule)}`));
    const link = this.kernel.links.get("mesh");
    if (link !== undefined) {
      this.kernel.removeLink("mesh");
      this.device = undefined;
      removed.unshift(`WireGuard link ${link.name}`);
    }
    this.#applyRoutes(routes, failures, (route, text) => this.kernel.removeRoute(route, text));
    this.#applyRules([...this.kernel.rules], failures, (rule, text) => this.kernel.removeRule(rule, text));
    if (this.firewall !== undefined) {
      this.kernel.mutate("remove table", () => {
        this.firewall = undefined;
      });
      removed.push("table");
    }
    return { removed, failures };
  }

  #applyMesh(changes: HostChanges, failures: ApplyFailure[]): void {
    const { mesh, device } = changes;
    const name = this.#names.nameOf("mesh") ?? "mesh";
    if (mesh?.create === true) {
      const made = attempt(failures, "mesh", name, () => this.kernel.createLink("mesh", name, "wireguard"));
      if (!made) return;
      this.device = EMPTY_DEVICE;
    }
    const link = mesh === undefined ? undefined : this.#findLink("mesh", failures);
    if (mesh !== undefined && link !== undefined) this.#prepareLink("mesh", link, mesh, failures);
    let configured = true;
    if (device !== undefined && !isEmptyDeviceChange(device)) {
      configured = attempt(failures, "device", name, () =>
        this.kernel.mutate("change the device", () => {
          this.device = applyDeviceChange(this.device ?? EMPTY_DEVICE, device);
        }),
      );
    }
    if (mesh === undefined || link === undefined) return;
    this.#finishLink("mesh", link, configured ? mesh : { ...mesh, up: undefined }, failures);
  }

  #changeLink(role: "tunnel", change: LinkChange, failures: ApplyFailure[]): void {
    const link = this.#findLink(role, failures);
    if (link === undefined) return;
    this.#prepareLink(role, link, change, failures);
    this.#finishLink(role, link, change, failures);
  }

  #findLink(role: "mesh" | "tunnel", failures: ApplyFailure[]): MemoryLink | undefined {
    const link = this.kernel.links.get(role);
    if (link === undefined)
      failures.push(refusal(role, role, "ENODEV", `cannot change link ${role}: no such link`));
    return link;
  }

  #prepareLink(
    role: "mesh" | "tunnel",
    link: MemoryLink,
    change: LinkChange,
    failures: ApplyFailure[],
  ): void {
    const { mtu } = change;
    if (mtu !== undefined) attempt(failures, role, link.name, () => this.kernel.setMtu(link, mtu));
    if (change.addAddresses.length > 0 && change.removeAddresses.length > 0) {
      attempt(failures, role, link.name, () =>
        this.kernel.mutate("keep secondary addresses", () => undefined),
      );
    }
    for (const on of change.addAddresses) {
      attempt(failures, role, link.name, () => this.kernel.addAddress(link, on), "EEXIST");
    }
  }

  #finishLink(role: "mesh" | "tunnel", link: MemoryLink, change: LinkChange, failures: ApplyFailure[]): void {
    const { up } = change;
    if (up !== undefined) attempt(failures, role, link.name, () => this.kernel.setUp(role, link, up));
    for (const on of change.removeAddresses) {
      attempt(failures, role, link.name, () => this.kernel.removeAddress(role, link, on), "EADDRNOTAVAIL");
    }
  }

  #applyRoutes(
    routes: readonly Route[],
    failures: ApplyFailure[],
    work: (route: Route, text: string) => void,
  ): void {
    for (const route of routes) {
      const text = this.#routeText(route);
      attempt(failures, "route", text, () => work(route, text));
    }
  }

  #applyRules(
    rules: HostChanges["addRules"],
    failures: ApplyFailure[],
    work: (rule: HostChanges["addRules"][number], text: string) => void,
  ): void {
    for (const rule of rules) {
      const text = this.#ruleText(rule);
      attempt(failures, "rule", text, () => work(rule, text));
    }
  }

  #applyFirewall(change: FirewallChange | undefined, failures: ApplyFailure[]): void {
    if (change === undefined) return;
    attempt(failures, "firewall", change.kind, () =>
      this.kernel.mutate("change the firewall", () => {
        this.firewall = changeFirewall(this.firewall, change);
      }),
    );
  }

  #writeCni(state: CniState | undefined): void {
    if (state === undefined) return;
    this.cni = state;
    this.#cniWrites++;
  }

  #ownRoutes(): Route[] {
    return [...this.kernel.routes.values()]
      .filter((own) => own.protocol === ROUTE_PROTOCOL)
      .map((own) => own.route);
  }

  #routeText(route: Route): string {
    return formatRoute(route, route.link === undefined ? undefined : this.#names.nameOf(route.link));
  }

  #ruleText(rule: HostChanges["addRules"][number]): string {
    return formatRule(rule, (role: LinkRole) => this.#names.nameOf(role));
  }
}

function readLink(link: MemoryLink) {
  return { up: link.up, mtu: link.mtu, addresses: [...link.addresses] };
}

function changeFirewall(before: Firewall | undefined, change: FirewallChange): Firewall {
  if (change.kind === "replace") return change.firewall;
  if (before === undefined) throw new Error("cannot change sets: the table does not exist");
  return applyToFirewall(before, change.sets);
}

function requireAddress(text: string): InterfaceAddress {
  const address = parseInterfaceAddress(text);
  if (address === undefined) throw new Error(`cannot make a host: not an address (${text})`);
  return address;
}
