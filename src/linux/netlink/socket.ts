/** A netlink socket: requests with their answers, or a subscription to the kernel's events. */
import { constants } from "node:os";
import { ByteWriter } from "./bytes.ts";
import { NetlinkError } from "./error.ts";
import {
  type NetlinkMessage,
  NLM_F_ACK,
  NLM_F_DUMP,
  NLM_F_DUMP_INTR,
  NLM_F_REQUEST,
  readMessages,
  readVerdict,
  type Verdict,
  writeMessage,
} from "./message.ts";
import { type NetlinkPort, nativePort } from "./port.ts";

const { EAGAIN, ENOBUFS, EINTR, EMSGSIZE, EIO } = constants.errno;

/** Protocols that this project speaks (linux/netlink.h). */
export const NETLINK_ROUTE = 0;
export const NETLINK_NETFILTER = 12;
export const NETLINK_GENERIC = 16;

/** Acknowledgements of so many requests fit a receive buffer of the system's default size (measured: 128 hold, 512 need 1 MB). */
const CHUNK = 128;

/** The kernel never sends more than 32 KiB at once unless the reader offers more; one event of nftables may be larger. */
const DATAGRAM = 65_536;

/** Shared by all sockets: what is read is copied out before anything else can run. */
const buffer = new Uint8Array(DATAGRAM);

/** A dump during which something changed is begun anew; a host where this fails ten times in a row is never at rest. */
const DUMP_ATTEMPTS = 10;

/** A transaction of nfnetlink is one datagram: this holds a set of some 10,000 elements. */
const REQUEST_BUFFER = 1 << 20;

/** So many datagrams are read before others may run (some 10 ms); the rest is read in the loop's next turn. */
const DRAIN_LIMIT = 4096;

/** Room for about 10,000 events of routes while the event loop is busy. */
const EVENT_BUFFER = 4 << 20;

export interface NetlinkRequest {
  readonly type: number;
  /** Besides NLM_F_REQUEST and NLM_F_ACK, which the socket adds. @default 0 */
  readonly flags?: number | undefined;
  readonly payload: Uint8Array;
  /** Whether the kernel is asked to acknowledge. nfnetlink's batch marks are not acknowledged. @default true */
  readonly acknowledge?: boolean | undefined;
  /** Only asks: not counted in `mutations`. @default false */
  readonly readOnly?: boolean | undefined;
  /** Completes "cannot …" in an error. @default "do a netlink request" */
  readonly what?: string | undefined;
}

/** What became of one request: what the kernel replied, or why it refused. */
export interface NetlinkResult {
  readonly replies: readonly NetlinkMessage[];
  readonly error?: NetlinkError | undefined;
}

export interface NetlinkOptions {
  /** One of the NETLINK_ constants. */
  readonly protocol: number;
  /** @default the native addon */
  readonly port?: NetlinkPort | undefined;
}

/**
 * Requests and their answers. The kernel works on a request while it is sent, so the answers are read at once, without a turn of the
 * event loop; only one operation is under way at a time.
 */
export class NetlinkSocket {
  /** How notifications of what this socket asked for are marked (`NetlinkMessage.portId`). */
  readonly portId: number;
  readonly #port: NetlinkPort;
  readonly #fd: number;
  #sequence = 0;
  #mutations = 0;
  #open = true;

  /** Opens a socket. Throws NetlinkError, or AddonError when there is no addon. */
  constructor(options: NetlinkOptions) {
    this.#port = options.port ?? nativePort();
    this.#fd = openSocket(this.#port, options.protocol, 0, REQUEST_BUFFER);
    this.portId = this.#port.port(this.#fd);
  }

  /** How many requests that change something were sent and not refused (promise 1 is about them). */
  get mutations(): number {
    return this.#mutations;
  }

  /** One request; its replies, without the acknowledgement. Throws NetlinkError. */
  request(request: NetlinkRequest): readonly NetlinkMessage[] {
    const [result] = this.batch([request]);
    if (result?.error !== undefined) throw result.error;
    return result?.replies ?? [];
  }

  /**
   * Many requests, one result each, in order; one that fails does not stop the others. Sent in chunks of 128, or with `atOnce` as one
   * datagram, as transactions of nfnetlink must be. Throws NetlinkError only when the socket itself fails.
   */
  batch(requests: readonly NetlinkRequest[], options: { atOnce?: boolean } = {}): NetlinkResult[] {
    const results: NetlinkResult[] = [];
    const size = options.atOnce === true ? Math.max(1, requests.length) : CHUNK;
    for (let at = 0; at < requests.length; at += size) {
      results.push(...this.#exchange(requests.slice(at, at + size)));
    }
    return results;
  }

  /** All parts of a dump, begun anew while the kernel says that it was interrupted by a change. Throws NetlinkError. */
  dump(request: NetlinkRequest): NetlinkMessage[] {
    for (let attempt = 0; attempt < DUMP_ATTEMPTS; attempt++) {
      const parts = this.#dumpOnce(request);
      if (parts !== undefined) return parts;
    }
    throw failure(request, { errno: EINTR, text: "interrupted by changes again and again" });
  }

  /** Idempotent. */
  close(): void {
    if (this.#open) this.#port.close(this.#fd);
    this.#open = false;
  }

  #exchange(requests: readonly NetlinkRequest[]): NetlinkResult[] {
    const first = this.#reserve(requests.length);
    const writer = new ByteWriter();
    const waiting = new Set<number>();
    for (const [index, request] of requests.entries()) {
      const sequence = first + index;
      const acknowledge = request.acknowledge !== false;
      const flags = NLM_F_REQUEST | (acknowledge ? NLM_F_ACK : 0) | (request.flags ?? 0);
      writeMessage(writer, { type: request.type, flags, sequence }, request.payload);
      if (acknowledge) waiting.add(sequence);
    }
    this.#send(writer.finish());

    const replies = requests.map((): NetlinkMessage[] => []);
    const errors: (NetlinkError | undefined)[] = [];
    const take = (message: NetlinkMessage): void => {
      const index = message.sequence - first;
      const request = requests[index];
      if (request === undefined) return;
      const verdict = readVerdict(message);
      if (verdict === undefined) {
        replies[index]?.push(message);
        return;
      }
      waiting.delete(message.sequence);
      if (verdict.errno !== 0) errors[index] ??= failure(request, verdict);
    };
    this.#receive(take, () => waiting.size === 0);
    for (const sequence of waiting) {
      const index = sequence - first;
      const request = requests[index];
      if (request !== undefined) errors[index] ??= failure(request, { errno: EIO, text: "no answer" });
    }
    this.#mutations += requests.filter(
      (request, index) => request.readOnly !== true && !errors[index],
    ).length;
    return requests.map((_, index) => ({ replies: replies[index] ?? [], error: errors[index] }));
  }

  #dumpOnce(request: NetlinkRequest): NetlinkMessage[] | undefined {
    const sequence = this.#reserve(1);
    const writer = new ByteWriter();
    const flags = NLM_F_REQUEST | NLM_F_DUMP | (request.flags ?? 0);
    writeMessage(writer, { type: request.type, flags, sequence }, request.payload);
    this.#send(writer.finish());

    const parts: NetlinkMessage[] = [];
    let interrupted = false;
    let verdict: Verdict | undefined;
    const take = (message: NetlinkMessage): void => {
      if (message.sequence !== sequence) return;
      if ((message.flags & NLM_F_DUMP_INTR) !== 0) interrupted = true;
      verdict = readVerdict(message);
      if (verdict === undefined) parts.push(message);
    };
    this.#receive(take, () => verdict !== undefined);
    if (verdict === undefined) throw failure(request, { errno: EIO, text: "no answer" });
    if (verdict.errno !== 0) throw failure(request, verdict);
    return interrupted ? undefined : parts;
  }

  /** The first of `count` sequence numbers in a row. Never 0, which the kernel's own messages carry. */
  #reserve(count: number): number {
    if (this.#sequence + count > 0x7fff_ffff) this.#sequence = 0;
    const first = this.#sequence + 1;
    this.#sequence += count;
    return first;
  }

  #send(bytes: Uint8Array): void {
    const result = this.#port.send(this.#fd, bytes);
    if (result < 0) throw new NetlinkError("send to netlink", { errno: -result });
  }

  /** Reads until `done`, or until nothing is left to read. */
  #receive(take: (message: NetlinkMessage) => void, done: () => boolean): void {
    while (!done()) {
      const length = this.#port.recv(this.#fd, buffer);
      if (length === -EAGAIN) return;
      if (length < 0) throw new NetlinkError("receive from netlink", { errno: -length });
      for (const message of readMessages(buffer.slice(0, length))) take(message);
    }
  }
}

export interface SubscriptionOptions extends NetlinkOptions {
  /** Numbers of multicast groups, 1 to 32. */
  readonly groups: readonly number[];
  /** Bytes. @default 4 MiB, doubled by the kernel */
  readonly receiveBuffer?: number | undefined;
  readonly onMessage: (message: NetlinkMessage) => void;
  /** Events were lost: anything may have changed. Later events arrive as before. */
  readonly onOverrun: () => void;
}

/** Listens to the kernel's events until the function that is returned is called. Throws NetlinkError. */
export function subscribe(options: SubscriptionOptions): () => void {
  const port = options.port ?? nativePort();
  const groups = options.groups.reduce((mask, group) => mask | (1 << (group - 1)), 0) >>> 0;
  const fd = openSocket(port, options.protocol, groups, options.receiveBuffer ?? EVENT_BUFFER);
  let open = true;
  let lost = false;
  const result = port.poll(fd, () => drain());
  if (result < 0) {
    port.close(fd);
    throw new NetlinkError("wait for netlink events", { errno: -result });
  }
  return () => {
    if (open) port.close(fd);
    open = false;
  };

  /**
   * Reads what is queued. After ENOBUFS the kernel drops what comes, and does not say so again, until the queue is empty
   * (NETLINK_S_CONGESTED): the overrun is told then, once, and whoever reads anew misses nothing.
   */
  function drain(): void {
    for (let read = 0; open && read < DRAIN_LIMIT; read++) {
      const length = port.recv(fd, buffer);
      if (length === -ENOBUFS || length === -EMSGSIZE) {
        lost = true;
        continue;
      }
      if (length < 0) {
        if (lost) options.onOverrun();
        lost = false;
        return;
      }
      for (const message of readMessages(buffer.slice(0, length))) {
        if (open) options.onMessage(message);
      }
    }
  }
}

function openSocket(port: NetlinkPort, protocol: number, groups: number, receiveBuffer: number): number {
  const fd = port.open(protocol, groups, receiveBuffer);
  if (fd < 0) throw new NetlinkError("open a netlink socket", { errno: -fd });
  return fd;
}

function failure(request: NetlinkRequest, verdict: Verdict): NetlinkError {
  return new NetlinkError(request.what ?? "do a netlink request", verdict);
}
