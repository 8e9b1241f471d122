/** PATCH: which kind of patch it is, what it makes of the object, and (for apply) who applied what. */

import { serverSideApply } from "./apply.ts";
import { type ApiObject, asMap, isMap, type Json, type JsonMap } from "./json.ts";
import { builtInLists, type ListKinds, schemaLists } from "./list-kinds.ts";
import { jsonPatch, mergePatch } from "./patches.ts";
import { apiVersionOf, type Resource, storeName } from "./resources.ts";
import { ApiError, badRequest, notFound } from "./status.ts";
import { makeKey, type Store } from "./store.ts";
import { strategicMerge } from "./strategic-merge.ts";
import type { Place, WriteOptions, Writer, Written } from "./writes.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

/** Managers that are remembered for one object; whoever applied longest ago is forgotten first (its fields then just stay). */
const MAX_MANAGERS = 20;

/** The same for objects: a deleted one is never asked for again (its uid is gone), so it is the first to be forgotten. */
const MAX_OBJECTS = 5000;

/** Serves PATCH requests on one store. */
export class Patcher {
  readonly #store: Store;
  readonly #writer: Writer;
  /** By uid of the object, then by field manager: the configuration it applied last. */
  readonly #applied = new Map<string, Map<string, JsonMap>>();

  constructor(store: Store, writer: Writer) {
    this.#store = store;
    this.#writer = writer;
  }

  /**
   * Patches the object at a place. An apply creates it when there is none. Throws 404, 409 (the patch names another
   * resourceVersion), 415 (not a patch kind of this resource) and 422.
   */
  patch(place: Place, contentType: string, body: Json, manager: string, options: WriteOptions): Written {
    const { resource, name = "" } = place;
    const current = this.#store.get(storeName(resource), makeKey(place.namespace, name));
    if (contentType === APPLY) return this.#apply(place, current, body, manager, options);
    if (current === undefined) throw notFound(resource, name);
    const patched = patchedObject(resource, current, contentType, body);
    return this.#writer.update(place, current, patched, options);
  }

  #apply(
    place: Place,
    current: ApiObject | undefined,
    body: Json,
    manager: string,
    options: WriteOptions,
  ): Written {
    if (!isMap(body)) throw badRequest("cannot apply: the body is not an object");
    if (manager === "")
      throw badRequest(
        "PatchOptions.meta.k8s.io is invalid: fieldManager: Required value: is required for apply patch",
      );
    if (body.apiVersion !== apiVersionOf(place.resource) || body.kind !== place.resource.kind) {
      throw badRequest(
        `cannot apply: apiVersion and kind must be ${apiVersionOf(place.resource)} ${place.resource.kind}`,
      );
    }
    const named = { ...body, metadata: { ...asMap(body.metadata), name: place.name ?? "" } };
    if (current === undefined && place.subresource !== undefined)
      throw notFound(place.resource, place.name ?? "");
    const written =
      current === undefined
        ? this.#writer.create(place, named, options)
        : this.#applyTo(place, current, named, manager, options);
    if (!options.dryRun) this.#remember(written.object, manager, named);
    return written;
  }

  #applyTo(
    place: Place,
    current: ApiObject,
    named: JsonMap,
    manager: string,
    options: WriteOptions,
  ): Written {
    const before = this.#applied.get(current.metadata.uid ?? "")?.get(manager);
    const merged = serverSideApply(current, before, named, listKinds(place.resource));
    return this.#writer.update(place, current, merged, options);
  }

  #remember(object: ApiObject, manager: string, config: JsonMap): void {
    const uid = object.metadata.uid ?? "";
    const managers = this.#applied.get(uid) ?? new Map<string, JsonMap>();
    keepNewest(managers, manager, config, MAX_MANAGERS);
    keepNewest(this.#applied, uid, managers, MAX_OBJECTS);
  }
}

function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

function patchedObject(resource: Resource, current: ApiObject, contentType: string, body: Json): Json {
  if (contentType === JSON_PATCH) return jsonPatch(current, body);
  if (!isMap(body)) throw badRequest("cannot patch: the body is not an object");
  if (contentType === MERGE_PATCH) return mergePatch(current, body);
  const strategic = contentType === STRATEGIC && resource.custom === undefined;
  if (strategic) return strategicMerge(current, body, listKinds(resource));
  const accepted = [
    JSON_PATCH,
    MERGE_PATCH,
    ...(resource.custom === undefined ? [STRATEGIC] : []),
    APPLY,
  ].join(", ");
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw new ApiError(415, "UnsupportedMediaType", message);
}

function listKinds(resource: Resource): ListKinds {
  return resource.custom === undefined ? builtInLists : schemaLists(resource.custom.schema);
}
