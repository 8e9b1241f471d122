/**
 * The objects, and what happened to them.
 *
 * Promises: every write gets the next revision, whatever its resource; a stored object is never changed in place; a listener
 * hears every event of its resource after the revision it named, in order, or is told that they are forgotten.
 */
import type { ApiObject } from "./json.ts";
import { expired, tooLargeVersion } from "./status.ts";

/** One write. `object` carries the revision as its resourceVersion (a deleted one the revision of its deletion). */
export interface StoredEvent {
  readonly revision: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: ApiObject;
  readonly previous?: ApiObject;
}

/** Hears the events of one resource. */
export type Listener = (event: StoredEvent) => void;

interface Collection {
  readonly objects: Map<string, ApiObject>;
  readonly listeners: Set<Listener>;
  history: StoredEvent[];
  /** Events up to this revision are forgotten. */
  floor: number;
}

/** Objects by resource (`peers.kilo.squat.ai`) and key (`name` or `namespace/name`). */
export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #historyLength: number;
  #revision = 1;
  #compacted = 0;

  /** `historyLength`: how many events are remembered for each resource. */
  constructor(historyLength: number) {
    this.#historyLength = historyLength;
  }

  /** The revision of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  /** One object; undefined when there is none. */
  get(resource: string, key: string): ApiObject | undefined {
    return this.#collection(resource).objects.get(key);
  }

  /** All objects of a resource with their keys, sorted by key; `revision` gives them as they were then (throws 410 when forgotten). */
  list(resource: string, revision = this.#revision): [string, ApiObject][] {
    this.#checkRemembered(resource, revision);
    const collection = this.#collection(resource);
    const objects = new Map(collection.objects);
    for (const event of collection.history.toReversed()) {
      if (event.revision <= revision) break;
      const key = keyOf(event.object);
      if (event.previous === undefined) objects.delete(key);
      else objects.set(key, event.previous);
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Stores an object under the next revision and tells the listeners; returns it as stored. */
  put(resource: string, object: ApiObject): ApiObject {
    const previous = this.get(resource, keyOf(object));
    const stored = this.#stamped(object);
    this.#collection(resource).objects.set(keyOf(stored), stored);
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    this.#record(resource, { type, object: stored, revision: this.#revision, ...(previous && { previous }) });
    return stored;
  }

  /** Removes an object and tells the listeners; undefined when there was none. */
  delete(resource: string, key: string): ApiObject | undefined {
    const previous = this.get(resource, key);
    if (previous === undefined) return undefined;
    const object = this.#stamped(previous);
    this.#collection(resource).objects.delete(key);
    this.#record(resource, { type: "DELETED", object, previous, revision: this.#revision });
    return object;
  }

  /**
   * Calls `listener` with every event of the resource after `revision`: the remembered ones at once, later ones as they come.
   * Throws 410 when some are forgotten. Returns what ends it.
   */
  subscribe(resource: string, revision: number, listener: Listener): () => void {
    this.#checkRemembered(resource, revision);
    const collection = this.#collection(resource);
    for (const event of collection.history) {
      if (event.revision > revision) listener(event);
    }
    collection.listeners.add(listener);
    return () => collection.listeners.delete(listener);
  }

  /** Forgets all events so far: lists and watches from an older revision are answered with 410. */
  compact(): void {
    this.#compacted = this.#revision;
    for (const collection of this.#collections.values()) {
      collection.history = [];
      collection.floor = this.#revision;
    }
  }

  #checkRemembered(resource: string, revision: number): void {
    if (revision > this.#revision) throw tooLargeVersion(revision, this.#revision);
    const { floor } = this.#collection(resource);
    if (revision < floor) throw expired(`too old resource version: ${revision} (${floor})`);
  }

  #stamped(object: ApiObject): ApiObject {
    this.#revision += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
  }

  #record(resource: string, event: StoredEvent): void {
    const collection = this.#collection(resource);
    collection.history.push(event);
    if (collection.history.length > this.#historyLength) {
      collection.floor = collection.history.shift()?.revision ?? collection.floor;
    }
    for (const listener of [...collection.listeners]) listener(event);
  }

  #collection(resource: string): Collection {
    const present = this.#collections.get(resource);
    if (present !== undefined) return present;
    const made: Collection = {
      objects: new Map(),
      listeners: new Set(),
      history: [],
      floor: this.#compacted,
    };
    this.#collections.set(resource, made);
    return made;
  }
}

/** The key of an object: `name`, or `namespace/name`. */
export function keyOf(object: ApiObject): string {
  return makeKey(object.metadata.namespace, object.metadata.name ?? "");
}

/** The key for a name in a namespace (undefined or empty: cluster scope). */
export function makeKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}
