/** What the agent is put together from. Each part is an interface, so that tests give twins. */
import type { Address } from "../ip/index.ts";
import type { HostDriver } from "../linux/index.ts";
import type { NodeObject, PeerObject } from "../mesh/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { PublicKey, SecretKey } from "../wireguard/index.ts";
import type { AgentMetrics } from "./metrics.ts";

/** A complete, live picture of one resource. */
export interface Source<T> {
  items(): ReadonlyMap<string, T>;
  /** Whether a list was ever complete. */
  readonly synced: boolean;
  /** When the server was last heard, in Unix milliseconds; undefined before the first answer. */
  readonly heardAt: number | undefined;
  /** What went wrong last; undefined since something went well. */
  readonly lastError: unknown;
}

/** Makes WireGuard call peers. */
export interface Caller {
  /** Calls those at once that never had a handshake, without WireGuard's own pause of 5 s. */
  renew(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number>;
  /** Sends to these at once, so that they learn where this host is now. */
  announce(publicKeys: Iterable<PublicKey>, signal: AbortSignal): Promise<number>;
}

export interface AgentParts {
  readonly nodes: Source<NodeObject>;
  readonly peers: Source<PeerObject>;
  readonly host: HostDriver;
  readonly caller: Caller;
  /** Sets annotations of the own Node, and nothing else. */
  readonly patchOwnNode: (
    annotations: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<void>;
  /** The last known addresses of a name; asking starts a look-up when one is due. */
  readonly resolve: (name: string) => readonly Address[];
  /** Where the API server is reached, as far as it is known. */
  readonly apiServer: () => readonly Address[];
  /** What the hostname resolved to at the start; empty for nothing. */
  readonly hostnameAddresses: readonly Address[];
  readonly privateKey: SecretKey;
  readonly publicKey: PublicKey;
  /** Of this program, for `kilomesh.io/agent`. */
  readonly version: string;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
}
