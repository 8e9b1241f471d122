/** What kubectl and client libraries ask first: which groups, versions and resources there are. */
import type { JsonMap } from "./json.ts";
import { apiVersionOf, type Registry, type Resource } from "./resources.ts";
import type { VersionInfo } from "./version.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The document at a discovery path (`/api`, `/apis`, `/api/v1`, `/apis/GROUP`, `/apis/GROUP/VERSION`, `/version`); undefined elsewhere. */
export function discoveryDocument(
  registry: Registry,
  path: string,
  version: VersionInfo,
): JsonMap | undefined {
  const [root = "", group = "", groupVersion = "", ...more] = path.split("/").filter((part) => part !== "");
  if (more.length > 0) return undefined;
  const all = registry.all();
  if (root === "version" && group === "") return { ...version };
  if (root === "api" && group === "") return coreVersions();
  if (root === "api" && groupVersion === "") return resourceList(all, "", group);
  if (root !== "apis") return undefined;
  if (group === "")
    return {
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: groupNames(all).map((name) => apiGroup(all, name)),
    };
  if (groupVersion !== "") return resourceList(all, group, groupVersion);
  return groupNames(all).includes(group)
    ? { kind: "APIGroup", apiVersion: "v1", ...apiGroup(all, group) }
    : undefined;
}

function coreVersions(): JsonMap {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
}

function groupNames(all: readonly Resource[]): string[] {
  return [...new Set(all.map((resource) => resource.group))].filter((group) => group !== "");
}

function apiGroup(all: readonly Resource[], name: string): JsonMap {
  const inGroup = all.filter((resource) => resource.group === name);
  const names = [...new Set(inGroup.map((resource) => resource.version))];
  const versions = names.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(all: readonly Resource[], group: string, version: string): JsonMap | undefined {
  const found = all.filter((resource) => resource.group === group && resource.version === version);
  const [first] = found;
  if (first === undefined) return undefined;
  const resources = found.flatMap((resource) => [
    entry(resource),
    ...(resource.status ? [statusEntry(resource)] : []),
  ]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(first), resources };
}

function entry(resource: Resource): JsonMap {
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: VERBS,
    shortNames: [...resource.shortNames],
  };
}

function statusEntry(resource: Resource): JsonMap {
  const verbs = ["get", "patch", "update"];
  const name = `${resource.plural}/status`;
  return { name, singularName: "", namespaced: resource.namespaced, kind: resource.kind, verbs };
}
