/** prober: one small process at every end of a path. It pings, transfers and fetches on request, and takes the transfers of others. */
export { Prober } from "./client.ts";
export { readPing } from "./path-probe.ts";
export { runProber } from "./prober.ts";
