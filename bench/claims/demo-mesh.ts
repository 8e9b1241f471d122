/** The demo's mesh, brought up as the claims need it: real `kg` processes, pods by CNI, no laptop. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  allPairs,
  type CheckedPath,
  crossPairs,
  DEMO,
  DEMO_KG_FLAGS,
  describeFailures,
  Lab,
  type LabHost,
  type Path,
  type PathEnd,
  type Pod,
  waitForPaths,
} from "../../src/lab/index.ts";

/** The node that is behind NAT in the demo. */
export const BEHIND_NAT = "home-1";

/** Milliseconds after which paths that did not come up are given up. */
const PATIENCE = 30_000;

/** What kg and its pods use in the demo: nothing of it may be seen between places. */
const MESH_PREFIXES = ["10.244.0.0/16", "10.4.0.0/16", "10.5.0.0/16"];

/** WireGuard's own UDP is allowed, also when it calls a node behind NAT at an address that leads nowhere. */
const WIREGUARD = /\.51820: UDP, length/;

/** How long it took from the start of the last `kg` until paths were ok, in seconds. */
export interface StartTimes {
  readonly public: number;
  readonly behindNat: number;
  /** Paths that never came up, with reasons. */
  readonly failed: readonly CheckedPath[];
}

export class DemoMesh {
  readonly lab: Lab;

  private constructor(lab: Lab) {
    this.lab = lab;
  }

  /** Builds hosts and cluster; no `kg` runs yet. The programs have to be built. */
  static async build(): Promise<DemoMesh> {
    const program = join(process.cwd(), "dist/lab.cjs");
    return new DemoMesh(await Lab.start(DEMO, { program, kg: [join(process.cwd(), "bin/kg")] }));
  }

  /** Starts `kg` everywhere at once and waits for all paths. @param flags further ones, by node */
  async start(flags: (node: LabHost) => readonly string[] = () => []): Promise<StartTimes> {
    const { lab } = this;
    const pods = lab.addPodOnEveryNode(PATIENCE);
    const own = ["--wireguard=userspace", ...DEMO_KG_FLAGS];
    const daemons = await Promise.all(
      lab.nodes.map((node) => node.startKg({ flags: [...own, ...flags(node)] })),
    );
    const startedAt = Math.max(...daemons.map((daemon) => daemon.startedAt));
    const paths = await this.#paths(await pods);
    const [near, far] = [paths.filter((path) => !isBehindNat(path)), paths.filter(isBehindNat)];
    const checkedNear = await waitForPaths(near, { deadline: PATIENCE });
    const afterNear = Date.now();
    const checkedFar = await waitForPaths(far, { deadline: PATIENCE });
    return {
      public: (afterNear - startedAt) / 1000,
      behindNat: (Date.now() - startedAt) / 1000,
      failed: [...checkedNear, ...checkedFar].filter(({ result }) => !result.ok),
    };
  }

  /** Waits until all paths are ok. @throws Error naming those that are not */
  async waitForAllPaths(): Promise<void> {
    const checked = await waitForPaths(await this.#paths(this.lab.nodes.map((node) => this.pod(node.name))), {
      deadline: PATIENCE,
    });
    const failures = describeFailures(checked);
    if (failures !== "") throw new Error(`paths are not ok: ${failures.replaceAll("\n", "; ")}`);
  }

  pod(node: string): Pod {
    const [pod] = this.lab.host(node).pods;
    if (pod === undefined) throw new Error(`there is no pod on ${node}`);
    return pod;
  }

  /** Pings 100 times a second from the pod of one node to that of another. */
  async stream(from: string, to: string) {
    return this.lab.stream(this.pod(from), this.pod(to).address);
  }

  /** Looks at all wires between places, and gives what must not be there. */
  async watchWires(): Promise<{ stop(): Promise<readonly string[]> }> {
    const capture = await this.lab.captureLeaks(MESH_PREFIXES);
    return { stop: async () => (await capture.stop()).filter((packet) => !WIREGUARD.test(packet)) };
  }

  /** Sum of all series of a metric over all nodes, optionally only those whose labels have this text. */
  async metric(name: string, labels = ""): Promise<number> {
    const values = await Promise.all(this.lab.nodes.map((node) => metricOf(node, name, labels)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** The WireGuard devices of all nodes. */
  async devices(): Promise<ReadonlyMap<string, Device>> {
    const entries = this.lab.nodes.map(async (node) => [node.name, await deviceOf(node)] as const);
    return new Map(await Promise.all(entries));
  }

  stop(): Promise<void> {
    return this.lab.stop();
  }

  async #paths(pods: readonly PathEnd[]): Promise<Path[]> {
    const nodes = await Promise.all(this.lab.nodes.map((node) => this.lab.hostEnd(node)));
    return [...allPairs(pods), ...crossPairs(pods, nodes)];
  }
}

/** Peers by public key. */
export type Device = ReadonlyMap<string, DevicePeer>;

export interface DevicePeer {
  /** Endpoint, allowed IPs and keepalive, as `wg show dump` prints them. */
  readonly configuration: string;
  /** Unix seconds. */
  readonly latestHandshake: number;
  readonly receivedBytes: number;
}

/** Reads `wg show kilo0 dump` (wg(8)); empty while there is no device. */
export async function deviceOf(node: LabHost): Promise<Device> {
  const { stdout } = await node.execute(["wg", "show", "kilo0", "dump"]);
  const [, ...lines] = stdout.trim().split("\n");
  return new Map(
    lines.map((line) => {
      const [key = "", , endpoint, allowedIPs, handshake, received, , keepalive] = line.split("\t");
      const configuration = [endpoint, allowedIPs, keepalive].join(" ");
      return [key, { configuration, latestHandshake: Number(handshake), receivedBytes: Number(received) }];
    }),
  );
}

export async function metricOf(node: LabHost, name: string, labels = ""): Promise<number> {
  const { status, body } = await (await node.prober()).http("http://127.0.0.1:1107/metrics");
  if (status !== 200) throw new Error(`cannot read the metrics of ${node.name}: ${status ?? body}`);
  const lines = body.split("\n").filter((line) => line.startsWith(name) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

export interface Memory {
  /** MB, all that is mapped and present. */
  readonly resident: number;
  /** MB, what no other process shares. */
  readonly private: number;
}

/** Memory of a process (proc(5), smaps_rollup). */
export function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const sum = (field: RegExp) =>
    [...rollup.matchAll(field)].reduce((kB, match) => kB + Number(match[1]), 0) / 1024;
  return { resident: sum(/^Rss: +(\d+) kB/gm), private: sum(/^Private_(?:Clean|Dirty): +(\d+) kB/gm) };
}

/** Seconds of CPU that a process has used; the kernel counts in hundredths (USER_HZ). */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function isBehindNat({ from, to }: Path): boolean {
  return [from.name, to.name].some((name) => name.endsWith(BEHIND_NAT));
}
