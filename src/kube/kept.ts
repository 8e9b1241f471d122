/** What a reflector keeps: projections by name, and the differences as they come. */
import type { KubeObject } from "./objects.ts";
import { sameValue } from "./same-value.ts";

export type Change<T> =
  | { readonly kind: "added"; readonly name: string; readonly object: T }
  | { readonly kind: "changed"; readonly name: string; readonly object: T; readonly previous: T }
  | { readonly kind: "removed"; readonly name: string; readonly previous: T };

export interface KeptOptions<T, Raw extends KubeObject> {
  readonly project: (object: Raw) => T | undefined;
  readonly onChange: (change: Change<T>) => void;
  /** An object that cannot be projected is left out; the others go on. */
  readonly onLeftOut: (name: string, error: unknown) => void;
}

/** A map of projections that tells what changed. An object whose projection stays equal changes nothing. */
export class Kept<T, Raw extends KubeObject> {
  readonly #options: KeptOptions<T, Raw>;
  readonly #items = new Map<string, T>();

  constructor(options: KeptOptions<T, Raw>) {
    this.#options = options;
  }

  get items(): ReadonlyMap<string, T> {
    return this.#items;
  }

  /** Takes an object in; returns its name in the map. */
  set(object: Raw): string {
    const name = nameOf(object);
    const projected = this.#project(name, object);
    const previous = this.#items.get(name);
    if (projected === undefined) {
      this.#drop(name);
      return name;
    }
    if (previous === undefined) {
      this.#items.set(name, projected);
      this.#options.onChange({ kind: "added", name, object: projected });
    } else if (!sameValue(previous, projected)) {
      this.#items.set(name, projected);
      this.#options.onChange({ kind: "changed", name, object: projected, previous });
    }
    return name;
  }

  /** Takes an object out; returns its name in the map. */
  remove(object: Raw): string {
    const name = nameOf(object);
    this.#drop(name);
    return name;
  }

  /** After a complete list: what it did not hold was deleted while nobody watched (B3). */
  removeAllBut(names: ReadonlySet<string>): void {
    for (const name of [...this.#items.keys()]) {
      if (!names.has(name)) this.#drop(name);
    }
  }

  #drop(name: string): void {
    const previous = this.#items.get(name);
    if (previous === undefined) return;
    this.#items.delete(name);
    this.#options.onChange({ kind: "removed", name, previous });
  }

  #project(name: string, object: Raw): T | undefined {
    try {
      return this.#options.project(object);
    } catch (error) {
      this.#options.onLeftOut(name, error);
      return undefined;
    }
  }
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}
