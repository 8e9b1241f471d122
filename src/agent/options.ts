/** What `kg` was told on its command line, beyond what the whole mesh shares. */
import type { Prefix } from "../ip/index.ts";
import type { MeshOptions } from "../mesh/index.ts";
import type { LogLevel } from "../telemetry/index.ts";

export interface AgentOptions {
  readonly mesh: MeshOptions;
  /** Must equal the Node object's name. */
  readonly hostname: string;
  /** Name of the WireGuard link. @default "kilo0" */
  readonly interface: string;
  /** Who serves WireGuard. `auto`: the kernel where it can, else wireguard-go. @default "auto" */
  readonly wireguard: "auto" | "kernel" | "userspace";
  /** Make the link when it is missing. @default true */
  readonly createInterface: boolean;
  /** Path of a kubeconfig; undefined: in-cluster credentials. */
  readonly kubeconfig?: string | undefined;
  /** Overrides the API server's address. */
  readonly master?: string | undefined;
  /** Where `/health` and `/metrics` are served. @default ":1107" */
  readonly listen: string;
  /** MTU of the mesh link in bytes, or `auto`: that of the default route's link less 80 (kilo.md §9.3). */
  readonly mtu: number | "auto";
  /** Seconds, more than 0. @default 30 */
  readonly resyncPeriod: number;
  /** Private addresses count as internal IP only inside these; empty: all. */
  readonly internalCIDRs: readonly Prefix[];
  /** Publish the private address as endpoint. @default false */
  readonly prioritisePrivateAddresses: boolean;
  /** @default "/etc/cni/net.d/10-kilo.conflist" */
  readonly cniPath: string;
  /** Folder of the private key. @default "/var/lib/kilo" */
  readonly stateFolder: string;
  /** @default "info" */
  readonly logLevel: LogLevel;
}
