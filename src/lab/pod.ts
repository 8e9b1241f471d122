/** A pod: a network namespace attached by CNI, with a prober as its only process. It ends with its host. */
import { attach, detach, waitForNetwork } from "./cni.ts";
import { run, type Site } from "./command.ts";
import { LabError } from "./errors.ts";
import { Prober } from "./prober/index.ts";

export class Pod {
  readonly name: string;
  /** Name of the host it runs on. */
  readonly host: string;
  readonly prober: Prober;
  readonly #hostSite: Site;
  #address: string | undefined;
  #mtu = 0;

  private constructor(name: string, host: string, hostSite: Site, prober: Prober) {
    this.name = name;
    this.host = host;
    this.#hostSite = hostSite;
    this.prober = prober;
  }

  /** Starts the pod's process, without a network yet: what can be done early does not count when time is measured later. */
  static async create(name: string, host: string, hostSite: Site, program: string): Promise<Pod> {
    const prober = await Prober.start({ name, hostPid: hostSite.pid, program, network: "own" });
    return new Pod(name, host, hostSite, prober);
  }

  /** The pod's network alone, e.g. for `ip` or `tcpdump`. */
  get site(): Site {
    return {
      name: this.name,
      pid: this.prober.hello.outer,
      enter: "network",
      guests: this.#hostSite.guests,
    };
  }

  /** IPv4 address. @throws LabError `missing` before it is attached */
  get address(): string {
    if (this.#address === undefined)
      throw new LabError("missing", `cannot reach pod ${this.name}: not attached yet`);
    return this.#address;
  }

  /** MTU of the pod's link in bytes. */
  get mtu(): number {
    return this.#mtu;
  }

  /** Runs the host's CNI plugins for the pod. @param timeout milliseconds to wait for a CNI configuration */
  async attach(timeout: number, signal?: AbortSignal): Promise<void> {
    await waitForNetwork(this.#hostSite, timeout, signal);
    const network = await attach(this.#hostSite, this.#sandbox);
    this.#address = network.address;
    const links = JSON.parse(await run(this.site, ["ip", "-j", "link", "show", "eth0"])) as {
      mtu?: number;
    }[];
    this.#mtu = links[0]?.mtu ?? 0;
  }

  /** Takes it off the network (CNI DEL) and ends it. */
  async remove(): Promise<void> {
    if (this.#address !== undefined) await detach(this.#hostSite, this.#sandbox);
    await this.prober.stop();
  }

  get #sandbox(): { id: string; namespace: string } {
    return { id: `lab-${this.name}`, namespace: `/proc/${this.prober.hello.inner}/ns/net` };
  }
}
