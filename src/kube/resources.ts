/** What kinds of objects there are, where they live on the server, and of what type they are. */
import type { EventObject, KubeObject, LeaseObject, RawObject, SecretObject } from "./objects.ts";

/** Describes one resource. `T` is the type of its objects; it exists for the compiler only. */
export interface Resource<T extends KubeObject = RawObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set. Carries `T`. */
  readonly objectType?: T | undefined;
}

export const NODES: Resource = {
  group: "",
  version: "v1",
  plural: "nodes",
  kind: "Node",
  namespaced: false,
};

/** Kilo's external peers (kilo.md §3.1). */
export const PEERS: Resource = {
  group: "kilo.squat.ai",
  version: "v1alpha1",
  plural: "peers",
  kind: "Peer",
  namespaced: false,
};

export const LEASES: Resource<LeaseObject> = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

export const EVENTS: Resource<EventObject> = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

export const SECRETS: Resource<SecretObject> = {
  group: "",
  version: "v1",
  plural: "secrets",
  kind: "Secret",
  namespaced: true,
};

export const CUSTOM_RESOURCE_DEFINITIONS: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** What is done to what. RBAC's words, so that a refusal can say which permission is missing. */
export interface Operation {
  readonly verb: "get" | "list" | "watch" | "create" | "patch" | "delete";
  readonly resource: Resource<KubeObject>;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: "status" | undefined;
}

/** The operation as people say it: `list nodes`, `patch Node a`, `patch status of Lease kube-system/x`. */
export function operationText(operation: Operation): string {
  const { verb, resource, namespace, name, subresource } = operation;
  const place = namespace === undefined ? "" : `${namespace}/`;
  if (name === undefined) {
    return namespace === undefined
      ? `${verb} ${resource.plural}`
      : `${verb} ${resource.plural} in ${namespace}`;
  }
  const part = subresource === undefined ? "" : `${subresource} of `;
  return `${verb} ${part}${resource.kind} ${place}${name}`;
}

/** The path of the operation on the server, without query. A namespaced resource without a namespace means all of them. */
export function operationPath(operation: Operation): string {
  const { resource, namespace, name, subresource, verb } = operation;
  const root =
    resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const place =
    resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const object = name === undefined || verb === "create" ? "" : `/${encodeURIComponent(name)}`;
  const part = subresource === undefined ? "" : `/${subresource}`;
  return `${root}${place}/${resource.plural}${object}${part}`;
}
