/** A host of the lab: commands, `kg`, pods and processes on it. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { PlacedHost } from "./addressing.ts";
import { type CommandOptions, type CommandResult, execute, run, type Site } from "./command.ts";
import { Daemon } from "./daemon.ts";
import { LabError } from "./errors.ts";
import { Pod } from "./pod.ts";
import { Prober } from "./prober/index.ts";
import type { Underlay } from "./underlay.ts";

/** What all hosts of a lab share. */
export interface HostContext {
  readonly underlay: Underlay;
  /** The built `lab` program. */
  readonly program: string;
  /** Command line of `kg`, without flags. */
  readonly kg: readonly string[];
  /** Path for a file of this host, e.g. a log. */
  readonly file: (name: string) => string;
}

export interface KgOptions {
  readonly flags?: readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** Where a host finds the credentials that the lab gave it. */
export const KUBECONFIG = "/etc/kubernetes/kubelet.conf";

export class LabHost {
  readonly name: string;
  readonly placed: PlacedHost;
  readonly #context: HostContext;
  readonly #pods = new Map<string, Pod>();
  #prober: Prober | undefined;
  #kg: Daemon | undefined;
  #kgOptions: KgOptions = {};
  /** Whether it runs, or would if nothing had gone wrong. */
  #kgWanted = false;

  constructor(placed: PlacedHost, context: HostContext) {
    this.name = placed.name;
    this.placed = placed;
    this.#context = context;
  }

  /** The host's namespaces, of its present boot. */
  get site(): Site {
    return this.#context.underlay.namespace(this.name);
  }

  /** Whether its present boot goes on. */
  get alive(): boolean {
    return this.#context.underlay.namespace(this.name).alive;
  }

  /** Resolves when its present boot has ended: a reboot, a power cut, its PID 1 killed by somebody. */
  get down(): Promise<void> {
    return this.#context.underlay.namespace(this.name).ended;
  }

  /** The address that others of its place use; the public one where there is no other. */
  get address(): string {
    const address = this.placed.privateAddress?.split("/")[0] ?? this.placed.publicAddress;
    if (address === undefined) throw new LabError("missing", `cannot reach ${this.name}: it has no address`);
    return address;
  }

  /** Runs a command on the host, whatever its status. */
  execute(command: readonly string[], options?: CommandOptions): Promise<CommandResult> {
    return execute(this.site, command, options);
  }

  /** Runs a command on the host and gives what it printed. @throws CommandError when its status is not 0 */
  run(command: readonly string[], options?: CommandOptions): Promise<string> {
    return run(this.site, command, options);
  }

  /** Starts a long-running program on the host; its output goes to `NAME.log` of this host. */
  startDaemon(
    name: string,
    command: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): Promise<Daemon> {
    return Daemon.start({
      name: `${name} on ${this.name}`,
      site: this.site,
      command,
      log: this.#context.file(`${name}.log`),
      environment,
    });
  }

  /** The host's own end of paths, started on first use. */
  async prober(): Promise<Prober> {
    if (this.#prober?.running) return this.#prober;
    this.#prober = await Prober.start({
      name: this.name,
      hostPid: this.site.pid,
      program: this.#context.program,
      network: "host",
    });
    return this.#prober;
  }

  /** The running `kg`, or the one that has ended. */
  get kg(): Daemon | undefined {
    return this.#kg;
  }

  /** Starts `kg` for this node. Flags are remembered for `restartKg` and for reboots. */
  async startKg(options: KgOptions = this.#kgOptions): Promise<Daemon> {
    if (this.#kg?.running) throw new LabError("process", `cannot start kg on ${this.name}: it runs already`);
    this.#kgOptions = options;
    this.#kgWanted = true;
    this.#kg = await this.startDaemon("kg", [...this.#context.kg, ...this.kgFlags], options.environment);
    return this.#kg;
  }

  /** Command line of `kg`, without flags. */
  get kgCommand(): readonly string[] {
    return this.#context.kg;
  }

  /** The flags with which `kg` was started last, or would be. */
  get kgFlags(): readonly string[] {
    return [`--kubeconfig=${KUBECONFIG}`, `--hostname=${this.name}`, ...(this.#kgOptions.flags ?? [])];
  }

  /** Ends `kg` as a DaemonSet's update does (SIGTERM). It stays ended, also over a reboot. */
  async stopKg(): Promise<void> {
    this.#kgWanted = false;
    await this.#kg?.stop();
  }

  /** Kills `kg` and starts it again at once. */
  async restartKg(): Promise<Daemon> {
    await this.#kg?.kill();
    return this.startKg();
  }

  /** Pods in the order in which they were made. */
  get pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  /**
   * Makes a pod and attaches it by the host's CNI plugins, waiting for the CNI configuration as a kubelet does.
   * @param timeout milliseconds to wait for the configuration. @default 30000
   */
  async addPod(name: string, timeout = 30_000, signal?: AbortSignal): Promise<Pod> {
    if (this.#pods.has(name))
      throw new LabError("scenario", `cannot add pod ${name} on ${this.name}: it exists`);
    const pod = await Pod.create(name, this.name, this.site, this.#context.program);
    this.#pods.set(name, pod);
    await pod.attach(timeout, signal);
    return pod;
  }

  /** Takes a pod off the network and ends it. */
  async removePod(name: string): Promise<void> {
    const pod = this.#pods.get(name);
    this.#pods.delete(name);
    await pod?.remove();
  }

  /** Process ids (as the lab sees them) of the host's processes with this command name. */
  processes(name: string): number[] {
    const own = readlinkSync(`/proc/${this.site.pid}/ns/pid`);
    return readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry))
      .filter((pid) => readOr(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) === name)
      .filter((pid) => readOr(() => readlinkSync(`/proc/${pid}/ns/pid`)) === own)
      .map(Number);
  }

  /** Sends a signal to all processes with this command name, and tells how many there were. */
  signalProcesses(name: string, signal: NodeJS.Signals): number {
    const pids = this.processes(name);
    for (const pid of pids) process.kill(pid, signal);
    return pids.length;
  }

  /**
   * A power cut: everything on the host ends at once, if it has not already; then it starts with the same cables and disk, runs `kg` unless that was
   * stopped before, and gets its pods again (as new ones: addresses may differ).
   */
  async reboot(): Promise<void> {
    const names = [...this.#pods.keys()];
    this.#pods.clear();
    await this.#context.underlay.reboot(this.name);
    if (this.#kgWanted) {
      await this.#kg?.ended;
      await this.startKg();
    }
    for (const name of names) await this.addPod(name);
  }
}

/** A process may end between being listed and being looked at. */
function readOr(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
