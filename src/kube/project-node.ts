/** What is kept of a Node: about 1 kB of 10, the parts that the mesh reads (src/mesh, NodeObject). */
import type { NodeObject } from "../mesh/index.ts";
import { fieldsOf } from "./fields.ts";
import { createInterner, type Intern } from "./interner.ts";
import type { RawObject } from "./objects.ts";

/** Annotations that are kept: Kilo's (kilo.md §2.1) and our own. */
const KEPT_PREFIXES = ["kilo.squat.ai/", "kilomesh.io/"] as const;

/** Annotations whose values repeat from node to node. */
const REPEATING = new Set([
  "kilo.squat.ai/granularity",
  "kilo.squat.ai/location",
  "kilo.squat.ai/persistent-keepalive",
]);

/**
 * Makes the projection of Nodes. Keeps name, uid, the one label, the kept annotations, pod CIDRs and addresses; a field of a wrong type
 * is left out, never passed on.
 * @param topologyLabel label that names the location, e.g. `topology.kubernetes.io/region`
 */
export function projectNode(topologyLabel: string): (raw: RawObject) => NodeObject {
  const intern = createInterner();
  return (raw) => ({
    metadata: {
      name: raw.metadata.name,
      uid: raw.metadata.uid,
      labels: keptLabels(raw, topologyLabel, intern),
      annotations: keptAnnotations(raw, intern),
    },
    spec: podCidrs(raw.spec),
    status: { addresses: addresses(raw.status, intern) },
  });
}

function keptLabels(raw: RawObject, label: string, intern: Intern): Record<string, string> | undefined {
  const labels = raw.metadata.labels ?? {};
  const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
  return typeof value === "string" ? { [label]: intern(value) } : undefined;
}

function keptAnnotations(raw: RawObject, intern: Intern): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw.metadata.annotations ?? {})) {
    if (typeof value !== "string" || !KEPT_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    kept[name] = REPEATING.has(name) ? intern(value) : value;
  }
  return kept;
}

function podCidrs(spec: unknown): NodeObject["spec"] {
  const { podCIDR, podCIDRs } = fieldsOf(spec);
  return {
    podCIDR: typeof podCIDR === "string" ? podCIDR : undefined,
    podCIDRs: Array.isArray(podCIDRs) ? podCIDRs.filter((cidr) => typeof cidr === "string") : undefined,
  };
}

function addresses(status: unknown, intern: Intern): { type: string; address: string }[] {
  const listed = fieldsOf(status).addresses;
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((entry) => {
    const { type, address } = fieldsOf(entry);
    if (typeof type !== "string" || typeof address !== "string") return [];
    return [{ type: intern(type), address }];
  });
}
