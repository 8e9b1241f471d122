/** Kubernetes objects as they come over the wire, as far as this product reads or writes them. The server validates; we do not. */

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface KubeObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: ObjectMeta;
}

/** An object of which nothing is known but that it has metadata. What a projection gets to see. */
export interface RawObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly data?: unknown;
}

/** coordination.k8s.io/v1. Times are RFC 3339 with microseconds. */
export interface LeaseObject extends KubeObject {
  readonly spec?:
    | {
        readonly holderIdentity?: string | null | undefined;
        readonly leaseDurationSeconds?: number | undefined;
        readonly acquireTime?: string | undefined;
        readonly renewTime?: string | undefined;
        readonly leaseTransitions?: number | undefined;
      }
    | undefined;
}

/** v1 Event: what `kubectl describe` shows. Events about objects without a namespace live in `default`. */
export interface EventObject extends KubeObject {
  readonly involvedObject: {
    readonly apiVersion?: string | undefined;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
  };
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly count?: number | undefined;
  readonly firstTimestamp?: string | undefined;
  readonly lastTimestamp?: string | undefined;
  readonly source?:
    | { readonly component?: string | undefined; readonly host?: string | undefined }
    | undefined;
}

/** v1 Secret; values are base64. */
export interface SecretObject extends KubeObject {
  readonly type?: string | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** One page of a list. `continue` is the token of the next page; undefined on the last. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string | undefined;
}

/** One event of a watch. ERROR events are thrown, never handed over. A bookmark's object has only a resource version. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: T;
}
