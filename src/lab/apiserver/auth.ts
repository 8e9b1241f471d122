/** Who asks, and whether they may. */
import type { IncomingMessage } from "node:http";
import { type PeerCertificate, TLSSocket } from "node:tls";
import { ApiError, qualified } from "./status.ts";

/** An authenticated client. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** What a client wants to do; paths without a resource have only verb and path. */
export interface Access {
  readonly user: User;
  /** Kubernetes' verbs: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  readonly path: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Decides on a request: true allows it, false or a reason forbids it. */
export type Authorizer = (access: Access) => boolean | string;

const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

// What Kubernetes shows to everybody (system:public-info-viewer).
const PUBLIC = new Set(["/healthz", "/livez", "/readyz", "/version"]);

/**
 * The user behind a request: by bearer token, else by client certificate (subject CN, groups O, of the given CA). Without
 * `tokens` nobody has to authenticate. Throws 401 for an unknown token, and for nobody where somebody is needed.
 */
export function authenticate(
  request: IncomingMessage,
  path: string,
  tokens: Readonly<Record<string, User>> | undefined,
): User {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1]?.trim();
  if (tokens !== undefined && bearer !== undefined) {
    if (Object.hasOwn(tokens, bearer)) return tokens[bearer] ?? ANONYMOUS;
    throw unauthorized();
  }
  const certified = certificateUser(request);
  if (certified !== undefined) return certified;
  if (tokens === undefined || PUBLIC.has(path)) return ANONYMOUS;
  throw unauthorized();
}

/** The client a request is counted for: its user, or the first word of its User-Agent (`kg/0.1`) when anonymous. */
export function clientName(request: IncomingMessage, user: User | undefined): string {
  if (user !== undefined && user !== ANONYMOUS) return user.name;
  const agent = request.headers["user-agent"]?.split(" ")[0];
  return (agent ?? "unknown").slice(0, 100);
}

/** Throws 403 unless the authorizer allows the request. */
export function authorize(authorizer: Authorizer | undefined, access: Access): void {
  const verdict = authorizer?.(access) ?? true;
  if (verdict === true || PUBLIC.has(access.path)) return;
  const why = typeof verdict === "string" ? `: ${verdict}` : "";
  const { user, verb, path, group = "", resource, subresource, namespace, name = "" } = access;
  if (resource === undefined) {
    throw new ApiError(
      403,
      "Forbidden",
      `forbidden: User "${user.name}" cannot ${verb} path "${path}"${why}`,
    );
  }
  const target = subresource === undefined ? resource : `${resource}/${subresource}`;
  const scope = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const may = `User "${user.name}" cannot ${verb} resource "${target}" in API group "${group}" ${scope}`;
  const message = `${qualified(group, resource)} "${name}" is forbidden: ${may}${why}`;
  throw new ApiError(403, "Forbidden", message, { name, group, kind: resource });
}

function certificateUser(request: IncomingMessage): User | undefined {
  const { socket } = request;
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  // Null, whatever its type says, once the client is gone.
  const certificate: PeerCertificate | null = socket.getPeerCertificate();
  const subject = certificate?.subject;
  if (subject === undefined) return undefined;
  const organisations = [subject.O ?? []].flat();
  return { name: [subject.CN].flat()[0] ?? "", groups: organisations };
}

function unauthorized(): ApiError {
  return new ApiError(401, "Unauthorized", "Unauthorized");
}
