/** How the lists of an object merge: whole, as a set, or item by item under a key. */
import { asList, asMap, asText, type Json, type JsonMap } from "./json.ts";

/** `atomic` lists are replaced whole, `set` lists hold scalars once, the others are maps under these key fields. */
export type ListKind = "atomic" | "set" | readonly string[];

/** The kind of the list at a path of field names (items of lists add no step). */
export type ListKinds = (path: readonly string[]) => ListKind;

/**
 * Merge keys of the built-in kinds by field name, from the patchMergeKey tags of k8s.io/api core/v1. Lists without an entry
 * (a node's taints, podCIDRs is a set) are atomic there too.
 */
const BUILT_IN: Readonly<Record<string, ListKind>> = {
  addresses: ["type"],
  conditions: ["type"],
  containers: ["name"],
  env: ["name"],
  ephemeralContainers: ["name"],
  finalizers: "set",
  imagePullSecrets: ["name"],
  initContainers: ["name"],
  ownerReferences: ["uid"],
  podCIDRs: "set",
  volumeMounts: ["mountPath"],
  volumes: ["name"],
};

/** The list kinds of the kinds that Kubernetes itself has. */
export const builtInLists: ListKinds = (path) => BUILT_IN[path.at(-1) ?? ""] ?? "atomic";

/** The list kinds that a CRD's schema declares by `x-kubernetes-list-type`; metadata's are the built-in ones. */
export function schemaLists(schema: JsonMap): ListKinds {
  return (path) => {
    if (path[0] === "metadata") return builtInLists(path);
    let node = schema;
    for (const step of path) {
      while (node.type === "array") node = asMap(node.items);
      node = asMap(asMap(node.properties)[step] ?? node.additionalProperties);
    }
    const type = asText(node["x-kubernetes-list-type"]);
    if (type === "set") return "set";
    return type === "map" ? asList(node["x-kubernetes-list-map-keys"]).map(asText) : "atomic";
  };
}

/** Whether two items of a list are the same one under its keys. */
export function sameItem(a: Json, b: Json, keys: readonly string[]): boolean {
  return keys.every((key) => asMap(a)[key] === asMap(b)[key]);
}
