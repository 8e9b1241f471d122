/** What a request is about: the resource, place and verb behind its method and path. */
import { apiVersionOf, type Registry, SERVED } from "./resources.ts";
import { type ApiError, badRequest, methodNotAllowed, notServed } from "./status.ts";
import type { Place } from "./writes.ts";

/** A request for a resource. `verb` is Kubernetes' own word, as authorizers and counters know it. */
export interface ResourceRoute {
  readonly place: Place;
  readonly verb: "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";
}

const ON_OBJECT: Readonly<Record<string, ResourceRoute["verb"]>> = {
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const ON_COLLECTION: Readonly<Record<string, ResourceRoute["verb"]>> = {
  GET: "list",
  POST: "create",
  DELETE: "deletecollection",
};

/**
 * The resource behind a path below /api or /apis. Throws 404 for what is not served (with what to use instead) and 405 for
 * methods that make no sense there.
 */
export function routeResource(registry: Registry, method: string, url: URL): ResourceRoute {
  const place = placeOf(registry, url.pathname);
  const { name, subresource, resource } = place;
  const verb = (name === undefined ? ON_COLLECTION : ON_OBJECT)[method];
  const replaces = verb === "get" || verb === "update" || verb === "patch";
  if (verb === undefined || (subresource !== undefined && !replaces))
    throw methodNotAllowed(method, url.pathname);
  if (verb === "create" && resource.namespaced && place.namespace === undefined) {
    throw methodNotAllowed(method, url.pathname);
  }
  const watches = ["true", "1"].includes(url.searchParams.get("watch") ?? "");
  return { place, verb: verb === "list" && watches ? "watch" : verb };
}

function placeOf(registry: Registry, path: string): Place {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map((part) => decode(part, path));
  const core = parts[0] === "api";
  const [group, version = "", ...rest] = core ? ["", ...parts.slice(1)] : parts.slice(1);
  const inNamespace =
    rest[0] === "namespaces" && rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] ?? "");
  const namespace = inNamespace ? rest[1] : undefined;
  const [plural = "", name, subresource, ...more] = inNamespace ? rest.slice(2) : rest;
  const resource = registry.find(group ?? "", version, plural);
  if (resource === undefined) throw unknown(group ?? "", version, plural);
  if (more.length > 0 || (subresource !== undefined && !(subresource === "status" && resource.status))) {
    throw notServed(`the subresource ${plural}/${[subresource, ...more].join("/")}`, INSTEAD);
  }
  if (namespace !== undefined && !resource.namespaced)
    throw unknown(group ?? "", version, `${plural} in a namespace`);
  return {
    resource,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}

function decode(part: string, path: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`cannot read the path ${path}: a percent sign without two hexadecimal digits`);
  }
}

const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

const INSTEAD = `it serves ${SERVED} and the resources of CRDs; for anything else use a real cluster, e.g. kind or k3s`;

function unknown(group: string, version: string, plural: string): ApiError {
  return notServed(`${plural} of ${apiVersionOf({ group, version })}`, INSTEAD);
}
