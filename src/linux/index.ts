/**
 * linux: the drivers of a host: links, addresses, routes, rules, the WireGuard device, the firewall, the CNI file.
 *
 * Promises: they read and apply what `mesh` names (`HostState`, `HostChanges`) and decide nothing; what is not kg's is never changed,
 * and a foreign route is never replaced; one operation that fails does not keep the others from being done; changes without content
 * send nothing; drift is told by events, and lost events are told too. At rest no process is spawned. `createMemoryHost` is the twin.
 */
export { createHost, type HostOptions } from "./host.ts";
export {
  createMemoryHost,
  type HostCounters,
  type MemoryHost,
  type MemoryHostOptions,
} from "./host-memory.ts";
export { LinkRoles } from "./link-names.ts";
export { AddonError, NetlinkError } from "./netlink/index.ts";
export * from "./ports.ts";
