/** What the lab and a prober say to each other: one JSON object a line, each request with an id that its answer carries. */

/** The first line of a prober: who it is. `outer` is its process id as the lab sees it, `inner` as the host it runs on does. */
export interface Hello {
  readonly outer: number;
  readonly inner: number;
}

export type Request =
  | {
      readonly id: number;
      readonly kind: "path";
      readonly to: string;
      readonly mtu: number;
      readonly timeout: number;
    }
  | { readonly id: number; readonly kind: "http"; readonly url: string; readonly timeout: number };

export type Answer =
  | ({ readonly id: number; readonly kind: "path" } & PathResult)
  | ({ readonly id: number; readonly kind: "http" } & HttpResult);

/** Whether a path carries pings, full packets and a megabyte of TCP. */
export interface PathResult {
  readonly ok: boolean;
  /** Milliseconds, of the plain ping. */
  readonly rtt?: number | undefined;
  /** Milliseconds that the transfer took. */
  readonly transfer?: number | undefined;
  /** What failed first, e.g. `ping: no answer`. */
  readonly reason?: string | undefined;
}

export interface HttpResult {
  /** Undefined when there was no answer; `body` then says why. */
  readonly status?: number | undefined;
  readonly body: string;
}

/** Where every prober takes transfers: iperf's port, which no part of Kubernetes uses. */
export const SINK_PORT = 5001;

/** Bytes of a transfer. */
export const TRANSFER_BYTES = 1_000_000;
