/**
 * ip: addresses, prefixes, sets and an index of prefixes, for both families.
 *
 * Promises: parsing is strict (whatever tools read differently is refused with `undefined`, never guessed and never thrown); every
 * value has one canonical text (RFC 5952, host bits cleared), so texts can be compared and used as keys; every order is total and the
 * same on every host; nothing here is slower than O(n log n). It knows of no links, nodes or files. Pure.
 */
export * from "./address.ts";
export * from "./classes.ts";
export * from "./prefix.ts";
export * from "./prefix-index.ts";
export * from "./prefix-set.ts";
