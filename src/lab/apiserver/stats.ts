/** What each client asked for and was sent, so that "at rest nothing is written" can be counted. */

/** The counts of one client since the start of the server or the last reset. */
export interface ClientStats {
  /** Requests by verb and resource: `{"list nodes": 1, "patch nodes": 3}`; paths without a resource count as the path. */
  readonly requests: Readonly<Record<string, number>>;
  /** Requests that write (create, update, patch, delete), whether they succeeded or not. */
  readonly writes: number;
  /** Requests answered with a status of 400 or more. */
  readonly failures: number;
  /** Watch events sent, bookmarks included. */
  readonly events: number;
  /** Watches open now. */
  readonly watches: number;
  /** Bytes of bodies, without headers and TLS. */
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Counts by client: the authenticated user, or the first word of the User-Agent where nobody has to authenticate. */
export interface Stats {
  readonly clients: Readonly<Record<string, ClientStats>>;
}

/** Clients that are told apart; what comes after them counts as `other`, so that names cannot fill the memory. */
const MAX_CLIENTS = 1000;

/** Paths without a resource are few, but a client chooses them: beyond this many they count as `other`. */
const MAX_REQUEST_KINDS = 200;

const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** The counter of one client. */
export class ClientCounter {
  readonly #requests = new Map<string, number>();
  #writes = 0;
  #failures = 0;
  #events = 0;
  #watches = 0;
  #bytesSent = 0;
  #bytesReceived = 0;

  /** A request came: its verb, and the resource (with subresource) or path it is for. */
  request(verb: string, what: string): void {
    const kind = `${verb} ${what}`;
    const known = this.#requests.has(kind) || this.#requests.size < MAX_REQUEST_KINDS;
    const counted = known ? kind : "other";
    this.#requests.set(counted, (this.#requests.get(counted) ?? 0) + 1);
    if (WRITES.has(verb)) this.#writes += 1;
  }

  /** A request was refused. */
  failed(): void {
    this.#failures += 1;
  }

  /** A body, or a part of one, was read. */
  received(bytes: number): void {
    this.#bytesReceived += bytes;
  }

  /** A body, or a part of one, was sent. */
  sent(bytes: number): void {
    this.#bytesSent += bytes;
  }

  /** A watch event of so many bytes was sent. */
  sentEvent(bytes: number): void {
    this.#events += 1;
    this.#bytesSent += bytes;
  }

  /** A watch was opened (+1) or ended (-1). */
  watching(change: 1 | -1): void {
    this.#watches += change;
  }

  /** Starts again at zero; open watches stay counted. */
  reset(): void {
    this.#requests.clear();
    this.#writes = 0;
    this.#failures = 0;
    this.#events = 0;
    this.#bytesSent = 0;
    this.#bytesReceived = 0;
  }

  /** The counts now. */
  read(): ClientStats {
    return {
      requests: Object.fromEntries([...this.#requests].sort(([a], [b]) => (a < b ? -1 : 1))),
      writes: this.#writes,
      failures: this.#failures,
      events: this.#events,
      watches: this.#watches,
      bytesSent: this.#bytesSent,
      bytesReceived: this.#bytesReceived,
    };
  }
}

/** The counters of all clients. */
export class StatsBook {
  readonly #clients = new Map<string, ClientCounter>();

  /** The counter of a client, made when it is first seen. */
  client(name: string): ClientCounter {
    const known = this.#clients.has(name) || this.#clients.size < MAX_CLIENTS;
    const counted = known ? name : "other";
    const counter = this.#clients.get(counted) ?? new ClientCounter();
    this.#clients.set(counted, counter);
    return counter;
  }

  /** Starts all counters again at zero. */
  reset(): void {
    for (const counter of this.#clients.values()) counter.reset();
  }

  /** All counts now. */
  read(): Stats {
    return {
      clients: Object.fromEntries([...this.#clients].map(([name, counter]) => [name, counter.read()])),
    };
  }
}
