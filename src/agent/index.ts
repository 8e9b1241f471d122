/**
 * agent: `kg` itself. Reads Nodes and Peers, asks `mesh` what this host shall have, and makes it so with the fewest changes.
 *
 * Promises: a pass with nothing to do does nothing; nothing is removed before the first complete list; one bad object or name stops
 * nobody; while the API server is away, everything stays as it is; stopping the agent, however it ends, leaves the data plane standing.
 */
export { cleanUp } from "./clean-up.ts";
export { parseListen } from "./http.ts";
export type { AgentOptions } from "./options.ts";
export { runAgent } from "./run.ts";
