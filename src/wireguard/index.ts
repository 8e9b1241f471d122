/**
 * wireguard: keys, endpoints, the device model, its text form, and the smallest change from one device to another.
 *
 * Promises: private and preshared keys cannot be printed by accident; a change names only peers that differ, and an endpoint that
 * WireGuard learned by itself is never overwritten while the session lives. Pure: derivation of keys is given by the caller.
 */
export * from "./changes.ts";
export * from "./device.ts";
export * from "./endpoint.ts";
export * from "./key.ts";
