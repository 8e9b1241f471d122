/** Create, update and delete: what every write checks, whatever request it comes from. */
import { randomUUID } from "node:crypto";
import { type Admitted, admit, decode, type FieldValidation } from "./admission.ts";
import { type ApiObject, asMap, equal, type Json, type JsonMap } from "./json.ts";
import { type Registry, type Resource, storeName } from "./resources.ts";
import { ApiError, alreadyExists, badRequest, conflict, notFound } from "./status.ts";
import { keyOf, makeKey, type Store } from "./store.ts";

/** One object, or a place for one. */
export interface Place {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** How a write is done. */
export interface WriteOptions {
  readonly fieldValidation: FieldValidation;
  /** Check everything, store nothing. */
  readonly dryRun: boolean;
}

/** What came of a write; `warnings` go to the client as Warning headers. */
export interface Written {
  readonly object: ApiObject;
  readonly created: boolean;
  readonly warnings: readonly string[];
}

/** More events than this and the oldest goes: nothing here expires them after an hour, as Kubernetes does. */
const MAX_EVENTS = 1000;

/** A generated name is the prefix and this many characters of Kubernetes' own alphabet (no vowels: no words). */
const SUFFIX_LENGTH = 5;
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Namespaces that are always there and stay. */
export const FIXED_NAMESPACES = ["default", "kube-system", "kube-node-lease", "kube-public"];

/** The writes on one store. `now` gives milliseconds since 1970. */
export class Writer {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #now: () => number;

  constructor(store: Store, registry: Registry, now: () => number) {
    this.#store = store;
    this.#registry = registry;
    this.#now = now;
  }

  /** Stores a new object. Throws 404 (no such namespace), 409 AlreadyExists, 400 and 422. */
  create(place: Place, body: Json, options: WriteOptions): Written {
    const { resource, namespace } = place;
    const decoded = decode(resource, namespace, body);
    if (decoded.metadata.resourceVersion)
      throw badRequest("resourceVersion should not be set on objects to be created");
    const name = decoded.metadata.name ?? this.#generateName(decoded);
    this.#checkNamespace(resource, namespace);
    if (this.#store.get(storeName(resource), makeKey(namespace, name)) !== undefined)
      throw alreadyExists(resource, name);
    const { deletionTimestamp, resourceVersion, ...given } = decoded.metadata;
    const metadata = { ...given, name, uid: randomUUID(), creationTimestamp: this.timestamp() };
    const generation = resource.custom === undefined ? {} : { generation: 1 };
    const fresh: ApiObject = { ...decoded, metadata: { ...metadata, ...generation } };
    // A custom resource's status is only ever written by its subresource; built-in kinds that need that do not occur here.
    if (resource.custom !== undefined && resource.status) delete fresh.status;
    const { object, warnings } = admit(resource, fresh, options.fieldValidation, this.timestamp());
    if (resource.plural === "events") this.#dropOldEvents();
    return { object: options.dryRun ? object : this.commit(resource, object), created: true, warnings };
  }

  /**
   * Replaces `current` by `wanted`, or only its status. Nothing is written, and no revision spent, when that changes nothing.
   * Throws 409 when `wanted` names another resourceVersion or uid, 400 and 422.
   */
  update(place: Place, current: ApiObject, wanted: Json, options: WriteOptions): Written {
    const { resource } = place;
    const name = current.metadata.name ?? "";
    const decoded = decode(resource, place.namespace, wanted);
    if ((decoded.metadata.name ?? name) !== name) {
      throw badRequest(
        `the name of the object (${decoded.metadata.name}) does not match the name on the URL (${name})`,
      );
    }
    checkVersions(resource, current, decoded.metadata);
    const next = this.#nextObject(place, current, decoded);
    const { object, warnings }: Admitted = admit(resource, next, options.fieldValidation, this.timestamp());
    if (equal(object, current)) return { object: current, created: false, warnings };
    if (options.dryRun) return { object, created: false, warnings };
    const gone = object.metadata.deletionTimestamp !== undefined && !object.metadata.finalizers?.length;
    return {
      object: gone ? this.remove(resource, object) : this.commit(resource, object),
      created: false,
      warnings,
    };
  }

  /**
   * Deletes an object, or marks it as being deleted when it has finalizers. Preconditions of the body (`uid`,
   * `resourceVersion`) are kept. Returns what the client is sent: a Status, or the object that still stands.
   */
  delete(resource: Resource, current: ApiObject, body: Json | undefined, dryRun: boolean): JsonMap {
    const { name = "", uid = "" } = current.metadata;
    checkVersions(resource, current, asMap(asMap(body).preconditions));
    if (resource.plural === "namespaces" && FIXED_NAMESPACES.includes(name)) {
      throw new ApiError(
        403,
        "Forbidden",
        `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      );
    }
    if (current.metadata.finalizers?.length) return this.#markDeleted(resource, current, dryRun);
    if (!dryRun) this.remove(resource, current);
    const details = { name, group: resource.group, kind: resource.plural, uid };
    return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
  }

  /** Stores an object as a whole, created or replaced, status included; no namespace, version or uid is checked. Throws 400 and 422. */
  put(place: Place, body: Json): ApiObject {
    const { resource, namespace } = place;
    const decoded = decode(resource, namespace, body);
    const current = this.#store.get(storeName(resource), keyOf(decoded));
    const fresh = {
      uid: randomUUID(),
      creationTimestamp: this.timestamp(),
      ...(resource.custom !== undefined && { generation: 1 }),
    };
    const metadata = { ...fresh, ...current?.metadata, ...decoded.metadata };
    for (const field of ["labels", "annotations", "finalizers"]) {
      if (decoded.metadata[field] === undefined) delete (metadata as JsonMap)[field];
    }
    const { object } = admit(resource, { ...decoded, metadata }, "Strict", this.timestamp());
    return this.commit(resource, object);
  }

  /** Stores an object as it is, and serves what it defines if it is a CRD. */
  commit(resource: Resource, object: ApiObject): ApiObject {
    const stored = this.#store.put(storeName(resource), object);
    if (resource.plural === "customresourcedefinitions") this.#registry.register(stored);
    return stored;
  }

  /** Removes an object and what it holds: the objects of a namespace, the custom resources of a CRD. Returns its last state. */
  remove(resource: Resource, object: ApiObject): ApiObject {
    const held = this.#registry.all().filter((other) => holds(resource, object, other));
    for (const other of held) {
      const prefix = resource.plural === "namespaces" ? `${object.metadata.name}/` : "";
      for (const [key] of this.#store.list(storeName(other))) {
        if (key.startsWith(prefix)) this.#store.delete(storeName(other), key);
      }
    }
    if (resource.plural === "customresourcedefinitions") this.#registry.unregister(object);
    return this.#store.delete(storeName(resource), keyOf(object)) ?? object;
  }

  /** The time as Kubernetes writes it: RFC 3339 in UTC, whole seconds. */
  timestamp(): string {
    return new Date(this.#now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  #nextObject(place: Place, current: ApiObject, wanted: ApiObject): ApiObject {
    const { resource } = place;
    const onlyStatus = place.subresource === "status";
    // Built-in kinds let the status subresource change metadata too (the kubelet relies on it for nodes).
    const base = onlyStatus
      ? { ...current, ...(resource.custom === undefined && { metadata: wanted.metadata }) }
      : wanted;
    const { resourceVersion, uid, creationTimestamp, generation, deletionTimestamp, ...free } = base.metadata;
    const fixed = ["resourceVersion", "uid", "creationTimestamp", "generation", "deletionTimestamp"];
    const metadata: JsonMap = { ...free, name: current.metadata.name };
    for (const field of fixed) {
      if (current.metadata[field] !== undefined) metadata[field] = current.metadata[field];
    }
    const next: ApiObject = { ...base, metadata, apiVersion: wanted.apiVersion, kind: wanted.kind };
    const status = onlyStatus || !resource.status ? wanted.status : current.status;
    if (status === undefined || status === null) delete next.status;
    else next.status = status;
    if (resource.custom !== undefined && specChanged(resource, current, next)) {
      next.metadata.generation = (current.metadata.generation ?? 0) + 1;
    }
    return next;
  }

  #markDeleted(resource: Resource, current: ApiObject, dryRun: boolean): ApiObject {
    if (current.metadata.deletionTimestamp !== undefined || dryRun) return current;
    const marks = { deletionTimestamp: this.timestamp(), deletionGracePeriodSeconds: 0 };
    return this.commit(resource, { ...current, metadata: { ...current.metadata, ...marks } });
  }

  #generateName(object: ApiObject): string {
    const prefix = object.metadata.generateName;
    if (!prefix)
      throw badRequest("cannot create the object: neither metadata.name nor metadata.generateName is given");
    const bytes = Buffer.from(randomUUID().replaceAll("-", ""), "hex");
    const letters = [...bytes.subarray(0, SUFFIX_LENGTH)].map(
      (byte) => SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length],
    );
    return `${prefix}${letters.join("")}`;
  }

  #checkNamespace(resource: Resource, namespace: string | undefined): void {
    if (!resource.namespaced) return;
    const found = namespace === undefined ? undefined : this.#store.get("namespaces", namespace);
    if (found === undefined)
      throw notFound({ group: "", plural: "namespaces", kind: "Namespace" }, namespace ?? "");
  }

  #dropOldEvents(): void {
    const events = this.#store.list("events");
    if (events.length < MAX_EVENTS) return;
    const age = ([, event]: [string, ApiObject]): number => Number(event.metadata.resourceVersion);
    const oldest = events.reduce((a, b) => (age(a) <= age(b) ? a : b));
    this.#store.delete("events", oldest[0]);
  }
}

function checkVersions(resource: Resource, current: ApiObject, wanted: JsonMap): void {
  const name = current.metadata.name ?? "";
  if (wanted.resourceVersion && wanted.resourceVersion !== current.metadata.resourceVersion) {
    const advice = "please apply your changes to the latest version and try again";
    throw conflict(resource, name, `the object has been modified; ${advice}`);
  }
  if (wanted.uid && wanted.uid !== current.metadata.uid) {
    const found = `UID in precondition: ${wanted.uid}, UID in object meta: ${current.metadata.uid}`;
    throw conflict(resource, name, `Precondition failed: ${found}`);
  }
}

function specChanged(resource: Resource, current: ApiObject, next: ApiObject): boolean {
  const ignored = { apiVersion: "", kind: "", metadata: {}, ...(resource.status && { status: {} }) };
  return !equal({ ...current, ...ignored }, { ...next, ...ignored });
}

function holds(resource: Resource, object: ApiObject, other: Resource): boolean {
  if (resource.plural === "namespaces") return other.namespaced;
  if (resource.plural !== "customresourcedefinitions") return false;
  return other.custom !== undefined && storeName(other) === object.metadata.name;
}
