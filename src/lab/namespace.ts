/**
 * Namespaces without names: a namespace lives as long as the process that holds it, and the holder dies with the lab, whatever ends the lab.
 * Then the kernel removes its processes, links and mounts. Nothing is ever entered into /run/netns, so nothing can be left there.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { LabError } from "./errors.ts";

export interface NamespaceOptions {
  readonly name: string;
  /** `path=value` below /proc/sys. */
  readonly sysctls: readonly string[];
  /** File with `NAMESPACE_INIT`, for PID 1. */
  readonly init: string;
  /** Folder that stands for the host's disk; its `etc-hosts` file and folders are mounted where a node has them. None: no disk of its own. */
  readonly disk?: string | undefined;
}

/** Folders of a node that outlive a reboot, as they do on a disk: path on the host → folder in `disk`. */
export const DISK_FOLDERS: Readonly<Record<string, string>> = {
  "/var/lib/kilo": "var-lib-kilo",
  "/etc/cni/net.d": "etc-cni-net.d",
  "/etc/kubernetes": "etc-kubernetes",
};

/**
 * The script of PID 1 of a namespace; a file, so that `ps` shows which host it is and not all of this. Bash reaps adopted children by
 * itself, also while it reads. It tells its process id as the lab sees it: /proc is still the lab's own when it is read. /etc and
 * /var/lib get overlays, so that mount points can be made without touching the machine's folders.
 */
export const NAMESPACE_INIT = `
read -r pid _ </proc/self/stat
set -e
name=$1 disk=$2; shift 2
mount -t proc proc /proc
mount -t sysfs sysfs /sys
hostname "$name"
for setting in "$@"; do echo "\${setting#*=}" >"/proc/sys/\${setting%%=*}"; done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/lock /run/wireguard
if [ -n "$disk" ]; then
  mkdir /run/.etc /run/.etc-work /run/.var /run/.var-work
  mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/.etc,workdir=/run/.etc-work /etc
  mount -t overlay overlay -o lowerdir=/var/lib,upperdir=/run/.var,workdir=/run/.var-work /var/lib
  mkdir -p /var/lib/cni /var/lib/kilo /etc/cni/net.d /etc/kubernetes
  mount -t tmpfs -o mode=755 tmpfs /var/lib/cni
  ${Object.entries(DISK_FOLDERS)
    .map(([path, folder]) => `mount --bind "$disk/${folder}" ${path}`)
    .join("\n  ")}
  rm -f /etc/resolv.conf
  : >/etc/resolv.conf
  : >>/etc/hosts
  mount --bind "$disk/etc-hosts" /etc/hosts
fi
echo "ready $pid"
while read -r _; do :; done
`;

/** Milliseconds for guests to take notice of the end; they need less than 10. */
const GUEST_PATIENCE = 300;

/** A namespace (network, mounts, processes, host name) and the process that holds it. */
export class Namespace {
  readonly name: string;
  /** Process id of the namespace's PID 1, as the lab sees it. */
  readonly pid: number;
  /**
   * The `nsenter` processes outside that wait for a program inside. One whose program was stopped (SIGSTOP) has stopped itself too, and would
   * never take notice of its end: the namespace would wait for it for ever.
   */
  readonly guests = new Set<ChildProcess>();
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  readonly #holder: ChildProcess;

  private constructor(name: string, pid: number, holder: ChildProcess) {
    this.name = name;
    this.pid = pid;
    this.#holder = holder;
    this.ended = hasEnded(holder) ? Promise.resolve() : once(holder, "exit").then(() => undefined);
  }

  /** Starts a holder and waits until its namespace is set up. @throws LabError `namespace` with what the holder printed */
  static async create(options: NamespaceOptions): Promise<Namespace> {
    const unshare = ["unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child"];
    const init = ["bash", options.init, options.name, options.disk ?? "", ...options.sysctls];
    const holder = spawn("setpriv", ["--pdeathsig", "KILL", ...unshare, ...init], {
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    let complaint = "";
    holder.on("error", (error) => {
      complaint += error.message;
    });
    holder.stderr.on("data", (data: Buffer) => {
      complaint += data.toString();
    });
    for await (const line of createInterface({ input: holder.stdout })) {
      const ready = /^ready (\d+)$/.exec(line);
      if (ready?.[1] !== undefined) return new Namespace(options.name, Number(ready[1]), holder);
    }
    throw new LabError(
      "namespace",
      `cannot make namespace ${options.name}: ${complaint.trim() || "holder ended"}`,
    );
  }

  /** Whether the holder is still there. */
  get alive(): boolean {
    return !hasEnded(this.#holder);
  }

  /** Kills everything in the namespace, at once, and waits until the kernel has ended all of it. Idempotent. */
  async destroy(): Promise<void> {
    if (this.alive) process.kill(this.pid, "SIGKILL");
    this.#signalGuests("SIGCONT");
    // A guest that stops itself only now has missed that.
    const timer = setTimeout(() => this.#signalGuests("SIGKILL"), GUEST_PATIENCE);
    await this.ended;
    clearTimeout(timer);
  }

  #signalGuests(signal: NodeJS.Signals): void {
    for (const guest of this.guests) guest.kill(signal);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
