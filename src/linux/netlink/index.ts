/**
 * netlink: sockets, messages and attributes, for every protocol of the family (rtnetlink, generic netlink, nfnetlink).
 *
 * Promises: what the kernel sends is never trusted to be well formed: lengths are checked and garbage is skipped; an event that was
 * lost is told, and later ones still arrive; an error carries the errno's name and the kernel's own words.
 */
export * from "./bytes.ts";
export * from "./error.ts";
export * from "./message.ts";
export type { NetlinkPort } from "./port.ts";
export * from "./socket.ts";
