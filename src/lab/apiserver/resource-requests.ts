/** Requests for resources: reads, writes, deletes and watches, each with its answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FieldValidation } from "./admission.ts";
import { mediaType, readBody } from "./body.ts";
import type { ApiObject, Json } from "./json.ts";
import { listPage, querySelector } from "./listing.ts";
import type { Patcher } from "./patching.ts";
import type { Answer } from "./plain-requests.ts";
import { Presenter } from "./presenter.ts";
import { type Registry, storeName } from "./resources.ts";
import type { ResourceRoute } from "./route.ts";
import type { ClientCounter } from "./stats.ts";
import { badRequest, notFound } from "./status.ts";
import { makeKey, type Store } from "./store.ts";
import { Watch, type WatchSetting } from "./watch.ts";
import type { Place, WriteOptions, Writer, Written } from "./writes.ts";

/** What requests for resources need of the server. */
export interface ResourceParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly writer: Writer;
  readonly patcher: Patcher;
  /** The open watches. */
  readonly watches: Set<Watch>;
  readonly watchSetting: WatchSetting;
  readonly now: () => number;
  readonly maxBody: number;
}

/** One request on its way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly counter: ClientCounter;
}

/** The answer to a request for a resource; undefined for a watch, which was begun. Throws ApiError. */
export async function answerResource(
  parts: ResourceParts,
  exchange: Exchange,
  { place, verb }: ResourceRoute,
): Promise<Answer | undefined> {
  const { request, url } = exchange;
  const { resource, namespace } = place;
  const presenter = new Presenter(resource, request.headers.accept ?? "", url.searchParams, parts.now);
  if (verb === "list")
    return ok(presenter.list(listPage(parts.store, resource, namespace, url.searchParams)));
  if (verb === "get") return ok(presenter.object(existing(parts.store, place)));
  if (verb === "watch") {
    beginWatch(parts, exchange, place, presenter);
    return undefined;
  }
  const body = await readBody(request, parts.maxBody, exchange.counter);
  if (verb === "deletecollection") return deleteSelected(parts, place, url.searchParams, body, presenter);
  const options = writeOptions(url.searchParams);
  if (verb === "delete") {
    return ok(
      JSON.stringify(parts.writer.delete(resource, existing(parts.store, place), body, options.dryRun)),
    );
  }
  if (body === undefined) throw badRequest(`cannot ${verb} ${resource.plural}: the body is empty`);
  const { object, created, warnings } = write(parts, exchange, place, verb, body, options);
  return { status: created ? 201 : 200, body: presenter.object(object), warnings };
}

function ok(body: string): Answer {
  return { status: 200, body };
}

function existing(store: Store, { resource, namespace, name = "" }: Place): ApiObject {
  const found = store.get(storeName(resource), makeKey(namespace, name));
  if (found === undefined) throw notFound(resource, name);
  return found;
}

function beginWatch(parts: ResourceParts, exchange: Exchange, place: Place, presenter: Presenter): void {
  const { response, url, counter } = exchange;
  const { resource, namespace } = place;
  const render = (object: ApiObject): string => presenter.object(object);
  const request = {
    resource,
    query: url.searchParams,
    render,
    ...(namespace !== undefined && { namespace }),
  };
  const watch = new Watch(parts.watchSetting, request, response, counter);
  watch.start();
  parts.watches.add(watch);
  response.on("close", () => parts.watches.delete(watch));
}

function write(
  parts: ResourceParts,
  { request, url }: Exchange,
  place: Place,
  verb: ResourceRoute["verb"],
  body: Json,
  options: WriteOptions,
): Written {
  if (verb === "create") return parts.writer.create(place, body, options);
  if (verb === "update") return parts.writer.update(place, existing(parts.store, place), body, options);
  const manager = url.searchParams.get("fieldManager") ?? "";
  return parts.patcher.patch(place, mediaType(request), body, manager, options);
}

function writeOptions(query: URLSearchParams): WriteOptions {
  const asked = query.get("fieldValidation");
  const fieldValidation: FieldValidation = asked === "Strict" || asked === "Ignore" ? asked : "Warn";
  return { fieldValidation, dryRun: query.get("dryRun") === "All" };
}

function deleteSelected(
  parts: ResourceParts,
  place: Place,
  query: URLSearchParams,
  body: Json | undefined,
  presenter: Presenter,
): Answer {
  const selected = querySelector(place.resource, place.namespace, query);
  const all = parts.store.list(storeName(place.resource)).map(([, object]) => object);
  const items = all.filter(selected);
  const { dryRun } = writeOptions(query);
  for (const object of items) parts.writer.delete(place.resource, object, body, dryRun);
  return ok(presenter.list({ items, revision: parts.store.revision }));
}
