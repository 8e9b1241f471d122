/** Objects in the form the client asked for: as they are, or as a Table; in the version of the path. */
import type { ApiObject, JsonMap } from "./json.ts";
import type { Page } from "./listing.ts";
import { apiVersionOf, type Resource } from "./resources.ts";
import { type IncludeObject, toTable, wantsTable } from "./table.ts";

/** The text of an object as it is stored, so that a hundred watchers of one event cost one encoding. */
const texts = new WeakMap<ApiObject, string>();

/** Renders the objects of one resource for one request. */
export class Presenter {
  readonly #resource: Resource;
  readonly #table: boolean;
  readonly #include: IncludeObject;
  readonly #now: () => number;

  constructor(resource: Resource, accept: string, query: URLSearchParams, now: () => number) {
    const include = query.get("includeObject");
    this.#resource = resource;
    this.#table = wantsTable(accept);
    this.#include = include === "None" || include === "Object" ? include : "Metadata";
    this.#now = now;
  }

  /** One object (also that of a watch event). */
  object(object: ApiObject): string {
    const shown = this.#versioned(object);
    if (!this.#table) return textOf(shown);
    const { resourceVersion } = object.metadata;
    const metadata: JsonMap = resourceVersion === undefined ? {} : { resourceVersion };
    return JSON.stringify(toTable(this.#resource, [shown], metadata, this.#include, this.#now()));
  }

  /** One page of a list. Items of built-in kinds carry no apiVersion and kind, as in Kubernetes. */
  list(page: Page): string {
    const metadata: JsonMap = { resourceVersion: String(page.revision) };
    if (page.next !== undefined) metadata.continue = page.next;
    if (page.remaining !== undefined) metadata.remainingItemCount = page.remaining;
    const items = page.items.map((object) => this.#versioned(object));
    if (this.#table)
      return JSON.stringify(toTable(this.#resource, items, metadata, this.#include, this.#now()));
    const { kind } = this.#resource;
    const shown = this.#resource.custom === undefined ? items.map(untyped) : items;
    return JSON.stringify({
      kind: `${kind}List`,
      apiVersion: apiVersionOf(this.#resource),
      metadata,
      items: shown,
    });
  }

  #versioned(object: ApiObject): ApiObject {
    const apiVersion = apiVersionOf(this.#resource);
    return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
  }
}

function textOf(object: ApiObject): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = JSON.stringify(object);
  texts.set(object, text);
  return text;
}

function untyped({ apiVersion: _, kind: __, ...rest }: ApiObject): JsonMap {
  return rest;
}
