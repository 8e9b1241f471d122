/** What the lab and a prober say to each other: one JSON object a line, each request with an id that its answer carries. */

/** The first line of a prober: who it is. `outer` is its process id as the lab sees it, `inner` as the host it runs on does. */
export interface Hello {
  readonly outer: number;
  readonly inner: number;
}

export type Request =
  | {
      readonly id: number;
      readonly kind: "pings";
      readonly to: string;
      readonly mtu: number;
      readonly timeout: number;
    }
  | { readonly id: number; readonly kind: "transfer"; readonly to: string; readonly timeout: number }
  | { readonly id: number; readonly kind: "http"; readonly url: string; readonly timeout: number };

export type Answer =
  | ({ readonly id: number; readonly kind: "pings" } & PingsResult)
  | ({ readonly id: number; readonly kind: "transfer" } & TransferResult)
  | ({ readonly id: number; readonly kind: "http" } & HttpResult);

/** Whether a plain ping and a don't-fragment ping of full size were answered. */
export interface PingsResult {
  readonly ok: boolean;
  /** Milliseconds, the better of the two. */
  readonly rtt?: number | undefined;
  /** What failed first, e.g. `ping: no answer`. */
  readonly reason?: string | undefined;
}

/** Whether a megabyte of TCP arrived. */
export interface TransferResult {
  readonly ok: boolean;
  /** Milliseconds from connecting to the other side's word that all has come. */
  readonly duration?: number | undefined;
  /** Why not, e.g. `transfer: timeout`. */
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
