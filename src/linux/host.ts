/** The host driver: what a host has and shall have, put together from netlink and the drivers of device, firewall and CNI file. */
import {
  type CniState,
  type HostChanges,
  type HostState,
  type LinkChange,
  type MeshLink,
  routeKey,
  type TunnelLink,
} from "../mesh/index.ts";
import { type DeviceStatus, isEmptyDeviceChange } from "../wireguard/index.ts";
import { HostEvents } from "./host-events.ts";
import { forwardsPackets, readFacts } from "./host-facts.ts";
import { failureOf } from "./host-failure.ts";
import { removeEverything } from "./host-removal.ts";
import type { LinkRoles } from "./link-names.ts";
import { type Link, listLinks } from "./links.ts";
import { type LinkAddress, listAddresses } from "./links-addresses.ts";
import { LinksByRole } from "./links-by-role.ts";
import { findForChange, finishLink, type LinkJob, prepareLink } from "./links-change.ts";
import { NETLINK_ROUTE, type NetlinkPort, NetlinkSocket } from "./netlink/index.ts";
import type {
  ApplyFailure,
  CniFile,
  DeviceDriver,
  DriftEvent,
  FirewallDriver,
  HostDriver,
  HostFacts,
  Removal,
} from "./ports.ts";
import { readOwnRoutes, removeRoutes, setRoutes } from "./routes.ts";
import { addRules, readOwnRules, removeRules } from "./rules.ts";

export interface HostOptions {
  /** Names of the links by role; share them with the firewall driver. */
  readonly links: LinkRoles;
  readonly device: DeviceDriver;
  readonly firewall: FirewallDriver;
  /** None: without `--cni`. */
  readonly cni?: CniFile | undefined;
  /** @default the native addon */
  readonly port?: NetlinkPort | undefined;
}

/** The driver of this process's network namespace. Throws NetlinkError, or AddonError when there is no addon. */
export function createHost(options: HostOptions): HostDriver {
  return new Host(options);
}

type Part = ApplyFailure["part"];

class Host implements HostDriver {
  readonly #links: LinkRoles;
  readonly #device: DeviceDriver;
  readonly #firewall: FirewallDriver;
  readonly #cni: CniFile | undefined;
  readonly #port: NetlinkPort | undefined;
  readonly #socket: NetlinkSocket;
  readonly #listeners = new Set<(event: DriftEvent) => void>();
  readonly #forwardingListeners = new Set<() => void>();
  #events: HostEvents | undefined;
  #stopFirewall: (() => void) | undefined;
  /** Places of routes: own ones at the last read, and those that were last to be set, also if a foreign route kept them out. */
  #ownPlaces: ReadonlySet<string> = new Set();
  #wantedPlaces: ReadonlySet<string> = new Set();
  /** Calls of the device and firewall drivers; the socket counts its own. */
  #driverCalls = 0;

  constructor(options: HostOptions) {
    this.#links = options.links;
    this.#device = options.device;
    this.#firewall = options.firewall;
    this.#cni = options.cni;
    this.#port = options.port;
    this.#socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port: options.port });
  }

  get mutations(): number {
    return this.#socket.mutations + this.#driverCalls;
  }

  async read(): Promise<HostState> {
    // What cannot be read counts as missing: writing it anew either mends it or fails with the reason, and the rest converges.
    const [device, firewall, cni] = await Promise.all([
      this.#device.read(),
      this.#firewall.read().catch(() => undefined),
      this.#cni?.read().catch(() => undefined),
    ]);
    const links = LinksByRole.read(this.#socket, this.#links);
    const addresses = listAddresses(this.#socket);
    const routes = readOwnRoutes(this.#socket, links);
    this.#ownPlaces = new Set(routes.map(routeKey));
    this.#events?.learnAddresses(addresses);
    for (const link of links) this.#events?.expectLink(link);
    const tunnel = links.get("tunnel");
    return {
      mesh: readMesh(links.get("mesh"), device, addresses),
      tunnel: tunnel === undefined ? undefined : readLink(tunnel, addresses),
      routes,
      rules: readOwnRules(this.#socket, this.#links),
      firewall,
      cni,
    };
  }

  readDevice(): Promise<DeviceStatus | undefined> {
    return this.#device.read();
  }

  async facts(): Promise<HostFacts> {
    return readFacts(this.#socket, this.#links);
  }

  foreignForwardDrops(): Promise<readonly string[]> {
    return this.#firewall.foreignForwardDrops();
  }

  forwardsPackets(): Promise<boolean> {
    return forwardsPackets();
  }

  watchForwarding(listener: () => void): () => void {
    const end = this.#firewall.watchForeign(listener);
    this.#forwardingListeners.add(listener);
    this.#startEvents();
    return () => {
      end();
      this.#forwardingListeners.delete(listener);
    };
  }

  setPrivateLink(name: string | undefined): void {
    this.#links.set("private", name);
  }

  async apply(changes: HostChanges, signal: AbortSignal): Promise<readonly ApplyFailure[]> {
    signal.throwIfAborted();
    const failures: ApplyFailure[] = [];
    await this.#applyMesh(changes, failures, signal);
    if (changes.tunnel !== undefined) this.#applyTunnel(changes.tunnel, failures);
    this.#guard(failures, "route", () => this.#setRoutes(changes, failures));
    this.#guard(failures, "rule", () => this.#addRules(changes, failures));
    const { firewall, cni } = changes;
    if (firewall !== undefined) {
      await this.#attempt(failures, "firewall", firewall.kind, signal, async () => {
        await this.#firewall.apply(firewall, signal);
        this.#driverCalls++;
      });
    }
    this.#guard(failures, "route", () => this.#removeRoutes(changes, failures));
    this.#guard(failures, "rule", () => this.#removeRules(changes, failures));
    if (cni !== undefined) await this.#writeCni(cni, failures, signal);
    return failures;
  }

  watch(listener: (event: DriftEvent) => void): () => void {
    this.#listeners.add(listener);
    this.#startEvents();
    return () => this.#listeners.delete(listener);
  }

  async removeEverything(): Promise<Removal> {
    return await removeEverything({
      socket: this.#socket,
      links: this.#links,
      device: this.#device,
      firewall: this.#firewall,
    });
  }

  close(): void {
    this.#listeners.clear();
    this.#forwardingListeners.clear();
    this.#stopFirewall?.();
    this.#stopFirewall = undefined;
    this.#events?.close();
    this.#events = undefined;
    this.#firewall.close();
    this.#socket.close();
  }

  /**
   * Link, then device, then up: nothing is sent through a device that has no keys yet. One that could not be configured is not set up; a link
   * that is up already stays as it is.
   */
  async #applyMesh(changes: HostChanges, failures: ApplyFailure[], signal: AbortSignal): Promise<void> {
    const { mesh, device } = changes;
    const name = this.#links.nameOf("mesh") ?? "mesh";
    if (mesh?.create === true) {
      const made = await this.#attempt(failures, "mesh", name, signal, () => this.#device.ensure(signal));
      if (!made) return;
      this.#driverCalls++;
    }
    const job = mesh === undefined ? undefined : this.#linkJob("mesh", mesh, failures);
    const link = job === undefined ? undefined : findForChange(job, this.#links);
    if (job !== undefined && link !== undefined) {
      if (job.change.create) job.expect(link);
      prepareLink(job, link);
    }
    let configured = true;
    if (device !== undefined && !isEmptyDeviceChange(device)) {
      configured = await this.#attempt(failures, "device", name, signal, async () => {
        await this.#device.apply(device, signal);
        this.#driverCalls++;
      });
    }
    if (job !== undefined && link !== undefined) finishLink(configured ? job : withoutUp(job), link);
  }

  #applyTunnel(change: LinkChange, failures: ApplyFailure[]): void {
    const job = this.#linkJob("tunnel", change, failures);
    const link = findForChange(job, this.#links);
    if (link === undefined) return;
    prepareLink(job, link);
    finishLink(job, link);
  }

  #linkJob(role: LinkJob["role"], change: LinkChange, failures: ApplyFailure[]): LinkJob {
    const expect = (link: Link): void => this.#events?.expectLink(link);
    return { socket: this.#socket, role, change, failures, expect };
  }

  #setRoutes(changes: HostChanges, failures: ApplyFailure[]): void {
    if (changes.setRoutes.length === 0) return;
    this.#wantedPlaces = new Set(changes.setRoutes.map(routeKey));
    const links = LinksByRole.read(this.#socket, this.#links);
    failures.push(...setRoutes(this.#socket, links, changes.setRoutes));
  }

  #removeRoutes(changes: HostChanges, failures: ApplyFailure[]): void {
    if (changes.removeRoutes.length === 0) return;
    const links = LinksByRole.read(this.#socket, this.#links);
    failures.push(...removeRoutes(this.#socket, links, changes.removeRoutes));
  }

  #addRules(changes: HostChanges, failures: ApplyFailure[]): void {
    if (changes.addRules.length > 0) failures.push(...addRules(this.#socket, this.#links, changes.addRules));
  }

  #removeRules(changes: HostChanges, failures: ApplyFailure[]): void {
    if (changes.removeRules.length === 0) return;
    failures.push(...removeRules(this.#socket, this.#links, changes.removeRules));
  }

  async #writeCni(state: CniState, failures: ApplyFailure[], signal: AbortSignal): Promise<void> {
    const file = this.#cni;
    if (file === undefined) return;
    await this.#attempt(failures, "cni", "CNI file", signal, () => file.write(state));
  }

  /** Does one part; that its socket fails does not keep the others from being done. */
  #guard(failures: ApplyFailure[], part: Part, work: () => void): void {
    try {
      work();
    } catch (error) {
      failures.push(failureOf(part, "netlink", error));
    }
  }

  /** Does one thing; whether it succeeded. Throws only when aborted. */
  async #attempt(
    failures: ApplyFailure[],
    part: Part,
    subject: string,
    signal: AbortSignal,
    work: () => Promise<unknown>,
  ): Promise<boolean> {
    signal.throwIfAborted();
    try {
      await work();
      return true;
    } catch (error) {
      signal.throwIfAborted();
      failures.push(failureOf(part, subject, error));
      return false;
    }
  }

  #startEvents(): void {
    if (this.#events !== undefined) return;
    const tell = (kind: DriftEvent["kind"]): void => {
      for (const listener of this.#listeners) listener({ kind });
    };
    this.#events = new HostEvents({
      names: this.#links,
      ownPortId: this.#socket.portId,
      links: listLinks(this.#socket),
      addresses: listAddresses(this.#socket),
      port: this.#port,
      isWatched: (place) => this.#ownPlaces.has(place) || this.#wantedPlaces.has(place),
      tell,
      tellForwarding: () => {
        for (const listener of this.#forwardingListeners) listener();
      },
    });
    this.#stopFirewall = this.#firewall.watch(() => tell("firewall"));
  }
}

function withoutUp(job: LinkJob): LinkJob {
  return { ...job, change: { ...job.change, up: undefined } };
}

function readMesh(
  link: Link | undefined,
  device: DeviceStatus | undefined,
  addresses: readonly LinkAddress[],
): MeshLink | undefined {
  if (link === undefined || device === undefined) return undefined;
  return { ...readLink(link, addresses), device };
}

/** The addresses that the kernel gives by itself (fe80::/10) are not kg's. */
function readLink(link: Link, addresses: readonly LinkAddress[]): TunnelLink {
  const own = addresses.filter((address) => address.link === link.index && !address.linkLocal);
  return { up: link.up, mtu: link.mtu, addresses: own.map((address) => address.on) };
}
