/** What is wrong with the objects and what follows from it: one table of reasons, which logs, metrics and `kg plan` share. */

/**
 * Every reason and what it means. The codes are stable: alerts and documents refer to them.
 * What follows for the mesh stands in the sentence; the message of a problem names values and owners.
 */
export const PROBLEM_REASONS = {
  "address-ignored": "An annotation names an address that no other host can reach; it is not used (K-24).",
  "annotation-invalid": "An annotation cannot be read; it is not used.",
  "clock-ahead":
    "A clock is a minute or more ahead: a node's of this host's, or this host's of most others' (S-13).",
  "clock-behind":
    "A clock is a minute or more behind: a node's this host's, or this host's most others' (S-13).",
  "default-route-refused":
    "A prefix of length 0 gets no route and no firewall entry: it would swallow the tunnels' own packets.",
  "duplicate-key": "Two owners have the same public key; the one named last here is left out (R-05, B33).",
  "duplicate-prefix": "Two owners claim the same prefix; it goes to one of them (K-15).",
  "endpoint-hidden":
    "A node behind NAT announces an address that only its location reaches, and nobody has heard it yet.",
  "endpoint-shared": "Two nodes announce the same endpoint, so only one of them can be reached (K-11).",
  "granularity-differs": "A node announces another granularity than this host has been told to use.",
  "granularity-left-out":
    "A node announces granularity location in a mesh of granularity cross; it is left out until it changes.",
  "host-bits-masked": "A prefix was written with host bits; they are read as zero (S-02).",
  "host-left-out": "This host takes no part in the mesh; the message says why.",
  "internal-ip-unassigned":
    "This host's internal IP stands on none of its links; routes do without a source address (B11).",
  "host-unknown": "There is no Node object with this host's name; the host takes no part in the mesh.",
  "leader-false-counts":
    "The leader annotation says no, but in a mesh with Kilo's agents its presence counts (S-04).",
  "location-ip-over-underlay":
    "An allowed-location-ip holds what this host must reach without it: an endpoint, the API server, a link. It gets no route.",
  "location-ip-left-out": "An allowed-location-ip collides with another owner's addresses (kilo.md §5.5).",
  "name-unresolved": "An endpoint's name has no address yet; its owner is waited for instead of contacted.",
  "node-stale": "A node has not checked in for 60 seconds; it is left out.",
  "node-without-endpoint": "A node has no usable endpoint; it is left out.",
  "node-without-key": "A node has no usable WireGuard key; it is left out.",
  "node-without-pod-cidr": "A node waits for its pod CIDR (spec.podCIDR); it is left out (K-69).",
  "option-refused": "An option cannot be served in this mesh; it is not applied.",
  "peer-invalid": "A field of a Peer cannot be read; what depends on it is left out.",
  "peer-overlaps-mesh": "A Peer's allowed IPs overlap addresses of the mesh (K-34).",
  "peer-over-underlay":
    "A Peer's allowed IPs hold what this host must reach without it: an endpoint, the API server, a link. It gets no route.",
  "peer-without-allowed-ips": "A Peer has no usable allowed IP; it is left out.",
  "peer-without-key": "A Peer has no usable public key; it is left out.",
  "route-to-endpoint":
    "A route would lead a tunnel's own packets into that tunnel; it is left out (K-35, R-44).",
  "self-gateway": "A route's gateway would be its own destination; it is left out (K-70).",
  "subnet-exhausted": "The subnet has no tunnel address left for a segment; it is left out (S-05).",
  "subnet-overlaps": "The subnet of tunnel addresses overlaps other addresses of the cluster (R-41).",
} as const;

export type ProblemReason = keyof typeof PROBLEM_REASONS;

/** The object that has to be changed to make a problem go away. `Host` is this host, `Option` a flag of its agent. */
export interface ProblemObject {
  readonly kind: "Node" | "Peer" | "Host" | "Option";
  readonly name: string;
}

export interface Problem {
  readonly object: ProblemObject;
  readonly reason: ProblemReason;
  /** One sentence with the values that matter. Holds no secret. */
  readonly message: string;
}

/** A problem of a Node. */
export function nodeProblem(name: string, reason: ProblemReason, message: string): Problem {
  return { object: { kind: "Node", name }, reason, message };
}

/** A problem of a Peer. */
export function peerProblem(name: string, reason: ProblemReason, message: string): Problem {
  return { object: { kind: "Peer", name }, reason, message };
}

/** Sorted by object, reason and message, without duplicates: the same facts in any order give the same list. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const byText = new Map<string, Problem>();
  for (const problem of problems) byText.set(sortText(problem), problem);
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, problem]) => problem);
}

function sortText({ object, reason, message }: Problem): string {
  return [object.kind, object.name, reason, message].join("\0");
}
