/**
 * linux: the drivers of a host: links, addresses, routes, rules, the WireGuard device, the firewall, the CNI file, the key file.
 *
 * Promises: they read and apply what `mesh` names (`HostState`, `HostChanges`) and decide nothing; what is not kg's is never changed,
 * and a foreign route is never replaced; one operation that fails does not keep the others from being done; changes without content
 * send nothing; drift is told by events, and lost events are told too. At rest no process is spawned. `createMemoryHost` is the twin.
 *
 * One exception to "decide nothing": a wireguard-go that holds the device's socket, leaves three reads in a row unanswered and uses no
 * processor time between them is killed, so that the device counts as missing and is made again (`wireguard/hung.ts`). It costs every
 * session of this host; without it nothing could be changed there until somebody comes. One that is merely busy is left.
 *
 * A host is put together as `createHost({ links, device: await createDeviceDriver(…), firewall: createFirewallDriver({ links }), cni })`.
 */

export { createCniFile } from "./cni-file.ts";
export { createFirewallDriver } from "./firewall/driver.ts";
export { createMemoryFirewall } from "./firewall/memory.ts";
export { createHost } from "./host.ts";
export {
  createMemoryHost,
  type MemoryHost,
} from "./host-memory.ts";
export {
  generateKey,
  loadOrCreateKey,
  publicKeyOf,
} from "./key-file.ts";
export { LinkRoles } from "./link-names.ts";
export * from "./ports.ts";
export { createDeviceDriver } from "./wireguard/driver.ts";
