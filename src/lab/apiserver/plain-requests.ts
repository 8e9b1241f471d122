/** What is answered besides resources: health, discovery, OpenAPI, the counts. */
import { discoveryDocument } from "./discovery.ts";
import type { JsonMap } from "./json.ts";
import { OPENAPI_V2, OPENAPI_V2_PROTOBUF, openApiDocument, openApiIndex } from "./openapi.ts";
import type { Registry } from "./resources.ts";
import type { StatsBook } from "./stats.ts";
import { methodNotAllowed, notServed } from "./status.ts";
import { VERSION } from "./version.ts";

/** What goes to the client; JSON unless `type` says otherwise. */
export interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly type?: string;
  readonly warnings?: readonly string[];
}

/** The answer for a path that names no resource. Throws 404 and 405. */
export function answerPlain(
  registry: Registry,
  stats: StatsBook,
  method: string,
  path: string,
  accept: string,
): Answer {
  if (method !== "GET") throw methodNotAllowed(method, path);
  if (/^\/(healthz|readyz|livez)(\/|$)/.test(path)) return { status: 200, body: "ok", type: "text/plain" };
  if (path === "/openapi/v2" && accept.includes("proto")) {
    const type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    return { status: 200, body: OPENAPI_V2_PROTOBUF, type };
  }
  const document = path === "/lab/stats" ? stats.read() : plainDocument(registry, path);
  if (document !== undefined) return { status: 200, body: JSON.stringify(document) };
  throw notServed(`GET ${path}`, "see /api, /apis, /openapi/v3, /version, /readyz and /lab/stats");
}

function plainDocument(registry: Registry, path: string): JsonMap | undefined {
  const v3 = "/openapi/v3";
  if (path === "/openapi/v2") return OPENAPI_V2;
  if (path === v3) return openApiIndex(registry);
  if (path.startsWith(`${v3}/`)) return openApiDocument(registry, path.slice(v3.length + 1));
  return discoveryDocument(registry, path, VERSION);
}
