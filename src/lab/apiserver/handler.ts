/** One request, from its head to its answer: who asks, for what, may they; then the answer or a Status. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Authorizer, authenticate, authorize, clientName, type User } from "./auth.ts";
import { asMap } from "./json.ts";
import { type Answer, answerPlain } from "./plain-requests.ts";
import { answerResource, type ResourceParts } from "./resource-requests.ts";
import { type ResourceRoute, routeResource } from "./route.ts";
import type { ClientCounter, StatsBook } from "./stats.ts";
import { ApiError } from "./status.ts";

/** Everything a request may touch. */
export interface Parts extends ResourceParts {
  readonly stats: StatsBook;
  readonly tokens: Readonly<Record<string, User>> | undefined;
  readonly authorizer: Authorizer | undefined;
}

/** Answers one request. Never throws: what fails is answered with a Status. */
export async function handle(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A path that begins with two slashes would be read as a host.
  const url = new URL(`http://lab${request.url?.startsWith("/") ? request.url : "/"}`);
  const user = identify(parts, request, url.pathname);
  const known = user instanceof ApiError ? undefined : user;
  const counter = parts.stats.client(clientName(request, known));
  try {
    if (user instanceof ApiError) throw user;
    const answered = await answer(parts, request, response, url, user, counter);
    if (answered !== undefined) send(response, counter, answered);
  } catch (error) {
    fail(request, response, counter, error);
  }
}

function identify(parts: Parts, request: IncomingMessage, path: string): User | ApiError {
  try {
    return authenticate(request, path, parts.tokens);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The answer; undefined when the response is a stream that was begun. */
async function answer(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  user: User,
  counter: ClientCounter,
): Promise<Answer | undefined> {
  const method = request.method ?? "GET";
  const path = url.pathname;
  const verb = method.toLowerCase();
  if (!/^\/(api\/v1|apis\/[^/]+\/[^/]+)\/./.test(path)) {
    counter.request(verb, path);
    authorize(parts.authorizer, { user, verb, path });
    return answerPlain(parts.registry, parts.stats, method, path, request.headers.accept ?? "");
  }
  const route = routeOrCount(parts, method, url, counter);
  const { resource, ...where } = route.place;
  authorize(parts.authorizer, {
    user,
    verb: route.verb,
    path,
    group: resource.group,
    resource: resource.plural,
    ...where,
  });
  return answerResource(parts, { request, response, url, counter }, route);
}

function routeOrCount(parts: Parts, method: string, url: URL, counter: ClientCounter): ResourceRoute {
  try {
    const route = routeResource(parts.registry, method, url);
    const { resource, subresource } = route.place;
    counter.request(
      route.verb,
      subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`,
    );
    return route;
  } catch (error) {
    counter.request(method.toLowerCase(), "what is not served");
    throw error;
  }
}

function send(response: ServerResponse, counter: ClientCounter, answered: Answer): void {
  const { status, body, type = "application/json", warnings = [] } = answered;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  counter.sent(bytes.length);
  for (const warning of warnings) {
    response.appendHeader("Warning", `299 - "${warning.replaceAll(/["\\]/g, "\\$&")}"`);
  }
  const cache = { "Cache-Control": "no-cache, private" };
  response.writeHead(status, { "Content-Type": type, "Content-Length": bytes.length, ...cache });
  response.end(bytes);
}

function fail(
  request: IncomingMessage,
  response: ServerResponse,
  counter: ClientCounter,
  error: unknown,
): void {
  counter.failed();
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const known = error instanceof ApiError;
  const status = known ? error : new ApiError(500, "InternalError", `Internal error: ${String(error)}`);
  const { retryAfterSeconds } = asMap(status.details);
  if (typeof retryAfterSeconds === "number") response.setHeader("Retry-After", String(retryAfterSeconds));
  // A body that was not read to its end leaves the connection unusable.
  if (!request.complete) response.setHeader("Connection", "close");
  send(response, counter, { status: status.httpStatus, body: JSON.stringify(status.toStatus()) });
}
