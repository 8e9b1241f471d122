/**
 * lab: a mesh on one machine. Places, NATs, hosts, pods and faults, made of network namespaces, with real `kg` processes in them.
 *
 * Promises: a scenario is a short description, and the lab builds all of it in well under a second; hosts see their own network, processes,
 * names and files and nothing of each other or of the machine; pods are attached by the real CNI plugins. Nothing has a name on the machine
 * and nothing outlives the lab: not on an error, not on Ctrl-C, not when it is killed. The machine's own network is not touched.
 *
 * Needs root, bash, iproute2, nftables, util-linux, ping, openssl, wg (wireguard-tools) and the CNI plugins bridge, host-local and portmap; a
 * wireguard-go unless the kernel serves WireGuard; for streams of pings fping, for captures tcpdump. What is missing is named before
 * anything is built, with its Debian package. `kubectl` is for people and tests only.
 */
export { connectPeers } from "./connect-peers.ts";
export { DEMO, DEMO_KG_FLAGS } from "./demo-scenario.ts";
export { ScenarioError } from "./errors.ts";
export type { LabHost } from "./host.ts";
export { keepPeersConnected } from "./keep-peers.ts";
export { Lab, type LabOptions } from "./lab.ts";
export {
  allPairs,
  type CheckedPath,
  checkPaths,
  crossPairs,
  describeFailures,
  type Path,
  type PathEnd,
  waitForPaths,
} from "./paths.ts";
export type { Pod } from "./pod.ts";
export type { Scenario } from "./scenario.ts";
export { fingerprint, waitUntilStill } from "./still.ts";
export type { StreamResult } from "./stream.ts";
