/**
 * mesh: from Node and Peer objects to what one host shall have. Pure: no sockets, files, clocks or environment.
 */
export * from "./host-changes.ts";
export * from "./host-state.ts";
export * from "./names.ts";
export * from "./objects.ts";
export * from "./options.ts";
export * from "./problems.ts";
