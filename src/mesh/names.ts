/** Names and numbers that clean-up and upgrades rely on. They are contract: see docs/decisions/0003-names-and-numbers.md. */

/** Route and rule protocol of everything kg puts into the kernel (rtnetlink `RTA_PROTOCOL`). Not in any registry we know of. */
export const ROUTE_PROTOCOL = 171;

/** The main table. */
export const MAIN_TABLE = 254;

/** Kilo's policy table for encapsulated internal IPs (kilo.md §6.1). Holds also what is unreachable for own pods only. */
export const POLICY_TABLE = 1107;

/** Priority of kg's policy rules: before the main table's 32766, and below what people pick by hand. */
export const RULE_PRIORITY = 11070;

/** Metric of the `unreachable` routes that stand behind the mesh: worse than any metric that a DHCP client or router picks. */
export const UNREACHABLE_METRIC = 4_000_000_000;

/** nftables table (family inet). */
export const NFT_TABLE = "kilomesh";

/**
 * The agent that serves a mesh link holds a socket of this name and the link's, in the abstract namespace: after a NUL, which `ss` and
 * /proc/net/unix write as `@`.
 */
export const AGENT_SOCKET = "kilomesh/agent/";

/** Annotation prefix of Kilo, and the annotation by which agents of ours know each other. */
export const ANNOTATION_PREFIX = "kilo.squat.ai/";
export const AGENT_ANNOTATION = "kilomesh.io/agent";
