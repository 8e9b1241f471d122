/**
 * ip: addresses, prefixes and sets of prefixes, for both families.
 *
 * Promises: parsing is strict (whatever tools read differently is refused, never guessed); every value has one canonical
 * text, so texts can be compared and used as keys; nothing here knows of links, nodes or files. Pure.
 */
export * from "./address.ts";
export * from "./classes.ts";
export * from "./prefix.ts";
export * from "./prefix-set.ts";
