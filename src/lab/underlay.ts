/** Underlay: a blueprint made real. Namespaces, cables and routers; knows nothing of Kubernetes or WireGuard. */
import { type Blueprint, type LinkPlan, makeBlueprint, type NamespacePlan } from "./blueprint.ts";
import { run, runIp, runIpApart } from "./command.ts";
import { LabError } from "./errors.ts";
import { DISK_FOLDERS, NAMESPACE_INIT, Namespace } from "./namespace.ts";
import type { Scenario } from "./scenario.ts";
import type { StateFolder } from "./state-folder.ts";

/** Builds, wires and ends the namespaces of a scenario. All of it is gone when the process that made it is. */
export class Underlay {
  readonly blueprint: Blueprint;
  readonly #state: StateFolder;
  readonly #namespaces = new Map<string, Namespace>();
  readonly #names = new Map<string, string>();
  readonly #init: string;

  constructor(scenario: Scenario, state: StateFolder) {
    this.blueprint = makeBlueprint(scenario);
    this.#state = state;
    this.#init = state.write("init", NAMESPACE_INIT);
  }

  /** Builds everything. @throws LabError; then `destroy` removes what was built */
  async build(): Promise<void> {
    const { namespaces, links } = this.blueprint;
    const made = await Promise.allSettled(namespaces.map((plan) => this.#hold(plan)));
    for (const result of made) {
      if (result.status === "rejected") throw result.reason;
    }
    await this.#plug(links);
    await Promise.all(namespaces.map((plan) => this.#configure(plan)));
  }

  /** The namespace of a host, a place's router, or the internet. */
  namespace(name: string): Namespace {
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined)
      throw new LabError("missing", `cannot find namespace: none is called ${name}`);
    return namespace;
  }

  /** The links that a namespace has an end of. */
  linksOf(name: string): LinkPlan[] {
    return this.blueprint.links.filter((link) => link.near.namespace === name || link.far.namespace === name);
  }

  /** Pulls the cable: the far end loses its carrier and keeps addresses and routes, as a machine does. */
  async cut(link: LinkPlan): Promise<void> {
    await runIp(this.namespace(link.near.namespace), [`link set ${link.near.link} down`]);
  }

  /** Plugs the cable in again. */
  async restore(link: LinkPlan): Promise<void> {
    await runIp(this.namespace(link.near.namespace), link.near.commands);
  }

  /** Ends a host as a power cut does, and starts it anew: same cables, same disk, nothing else. */
  async reboot(name: string): Promise<void> {
    const plan = this.blueprint.namespaces.find((candidate) => candidate.name === name);
    if (plan === undefined) throw new LabError("missing", `cannot reboot ${name}: no such host`);
    await this.namespace(name).destroy();
    await this.#hold(plan);
    const links = this.linksOf(name);
    await this.#removeHalves(name, links);
    await this.#plug(links);
    await this.#configure(plan);
    for (const link of links) {
      const other = link.near.namespace === name ? link.far : link.near;
      await runIp(this.namespace(other.namespace), other.commands);
    }
  }

  /** Lets a name resolve on all hosts, as a DNS entry would; undefined removes it. */
  setName(name: string, address: string | undefined): void {
    if (address === undefined) this.#names.delete(name);
    else this.#names.set(name, address);
    for (const host of this.blueprint.hosts) this.#writeHostsFile(host.name);
  }

  /** Folder of the files that a host finds below /etc/kubernetes. */
  diskFolder(host: string, folder: string): string {
    return this.#state.folder("hosts", host, folder);
  }

  /** Ends everything. Idempotent. */
  async destroy(): Promise<void> {
    await Promise.all([...this.#namespaces.values()].map((namespace) => namespace.destroy()));
  }

  async #hold(plan: NamespacePlan): Promise<void> {
    const disk = plan.kind === "host" ? this.#makeDisk(plan.name) : undefined;
    const namespace = await Namespace.create({
      name: plan.name,
      sysctls: plan.sysctls,
      init: this.#init,
      disk,
    });
    this.#namespaces.set(plan.name, namespace);
  }

  #makeDisk(host: string): string {
    for (const folder of Object.values(DISK_FOLDERS)) this.diskFolder(host, folder);
    this.#writeHostsFile(host);
    return this.#state.folder("hosts", host);
  }

  #writeHostsFile(host: string): void {
    const names = [...this.#names].map(([name, address]) => `${address} ${name}`);
    const text = ["127.0.0.1 localhost", "::1 localhost", ...names, ""].join("\n");
    this.#state.write(`hosts/${host}/etc-hosts`, text);
  }

  /** The ends of a dead host's links go with its namespace, but a while after it: the kernel clears up in the background. */
  async #removeHalves(name: string, links: readonly LinkPlan[]): Promise<void> {
    for (const link of links) {
      const other = link.near.namespace === name ? link.far : link.near;
      await run({ ...this.namespace(other.namespace), enter: "network" }, [
        "sh",
        "-c",
        'ip link del "$1" 2>/dev/null; for try in 1 2 3 4 5 6 7 8 9; do ip link show "$1" >/dev/null 2>&1 || exit 0; sleep 0.02; done; exit 1',
        "lab-unplug",
        other.link,
      ]);
    }
  }

  async #plug(links: readonly LinkPlan[]): Promise<void> {
    const lines = links.map(({ near, far, mtu }) => {
      const nearPid = this.namespace(near.namespace).pid;
      const farPid = this.namespace(far.namespace).pid;
      return `link add name ${near.link} mtu ${mtu} netns ${nearPid} type veth peer name ${far.link} mtu ${mtu} netns ${farPid}`;
    });
    await runIpApart(lines);
  }

  async #configure(plan: NamespacePlan): Promise<void> {
    const namespace = this.namespace(plan.name);
    const ends = this.blueprint.links
      .flatMap((link) => [link.near, link.far])
      .filter((end) => end.namespace === plan.name);
    await runIp(namespace, [...plan.commands, ...ends.flatMap((end) => end.commands)]);
    if (plan.nftables !== undefined) await run(namespace, ["nft", "-f", "-"], { input: plan.nftables });
  }
}
