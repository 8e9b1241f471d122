/**
 * What the client of src/kube expects of an API server, and what an API server may expect of it: one suite for every server.
 * Each group makes objects under names of its own, looks only at those, and takes them away again, so that a server with other
 * objects on it will do.
 */
import type { ClusterConfig } from "../../src/kube/index.ts";
import { credentialContract } from "./kube/credentials.ts";
import { reflectorContract } from "./kube/reflectors.ts";
import { verbContract } from "./kube/verbs.ts";
import { watchContract } from "./kube/watches.ts";

/** A running server, and what its administrator can do to it. */
export interface ServerUnderTest {
  /** Address and credentials of somebody who may do everything. */
  readonly config: ClusterConfig;
  /** Nothing listens any more, connections are cut. */
  stop(): Promise<void>;
  /** The same objects at the same address again. Resolves when requests are answered. */
  start(): Promise<void>;
  /** Makes every version so far too old to go on from. It may end watches and cut connections. */
  expire(): Promise<void>;
  /** A token of an account that may get, list and watch nodes, and nothing else. */
  issueToken(): Promise<string>;
  /** From now on the token is refused with 401. Resolves when that is so. */
  revokeToken(token: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Declares the tests against the server that `open` brings up, once for each group.
 * @param name of the server, for the report
 */
export function kubeContract(name: string, open: () => Promise<ServerUnderTest>): void {
  verbContract(name, open);
  watchContract(name, open);
  reflectorContract(name, open);
  credentialContract(name, open);
}
