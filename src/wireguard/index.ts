/**
 * wireguard: keys, endpoints, the device model, its text form, and the smallest change from one device to another.
 *
 * Promises: private and preshared keys cannot be printed by accident; a change names only peers that differ, an endpoint that
 * WireGuard learned by itself is never overwritten while the session lives, and a prefix that moves between peers is never without
 * one; applied to a device, a change leaves nothing to change. The text form hides secrets unless asked for them by name.
 * Pure: derivation of keys is given by the caller, time is an argument.
 */
export * from "./changes.ts";
export * from "./device.ts";
export * from "./diff.ts";
export * from "./endpoint.ts";
export * from "./key.ts";
export * from "./model.ts";
export * from "./session.ts";
export * from "./text.ts";
