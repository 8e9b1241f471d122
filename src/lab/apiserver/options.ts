/** What an API server is started with. */
import type { Authorizer, User } from "./auth.ts";
import type { JsonMap } from "./json.ts";

/** How an API server is away: nothing listens, or connections are taken and nothing is answered. */
export type PauseMode = "refuse" | "hang";

/** TLS in PEM. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** The CA of client certificates; without it they are not asked for. */
  readonly clientCa?: string;
}

/** Options of `startApiServer`. */
export interface ApiServerOptions {
  /** Address to listen on (default: 127.0.0.1). */
  readonly host?: string;
  /** Port to listen on (default: 0, any free one). */
  readonly port?: number;
  /** A unix socket to listen on as well, so that a relay in another network namespace can reach the server (default: none). */
  readonly socketPath?: string;
  /** Certificate and key (default: none, plain HTTP). */
  readonly tls?: ServerTls;
  /** Bearer tokens and whose they are; read anew for each request, so they may change. Default: nobody has to authenticate. */
  readonly tokens?: Readonly<Record<string, User>>;
  /** Decides on each request (default: all are allowed). */
  readonly authorizer?: Authorizer;
  /** Objects that are there from the start: CRDs first, then what they define. */
  readonly objects?: readonly JsonMap[];
  /** Events remembered for each resource; a watch from before them is answered with 410 (default: 1000). */
  readonly historyLength?: number;
  /**
   * How a watch from forgotten times is told so: an ERROR event with code 410 in a stream that began with 200 (`event`, the
   * default, as the watch cache of Kubernetes does) or the HTTP status 410 (`status`, as Kubernetes does without that cache).
   */
  readonly expiredWatch?: "event" | "status";
  /** Milliseconds between the bookmarks of a watch (default: 5000; Kubernetes: about a minute). */
  readonly bookmarkInterval?: number;
  /** Bytes of changes that may wait for a slow watcher before it is cut (default: 8 MiB, some 800 nodes of a real cluster). */
  readonly maxBuffered?: number;
  /** Bytes a request body may have (default: 3 MiB, Kubernetes' own bound). */
  readonly maxBody?: number;
  /** The time in milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}
