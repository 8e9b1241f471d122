/**
 * Who changed the table: told by nftables' own events, one transaction ("generation") at a time, without listing anything.
 *
 * Own transactions are told apart by counting, not by process id: ids differ between pid namespaces. While one of ours is under way,
 * exactly one generation that touches the table is ours.
 */
import { setImmediate } from "node:timers/promises";
import { NFT_TABLE } from "../../mesh/index.ts";
import {
  NETLINK_NETFILTER,
  type NetlinkMessage,
  type NetlinkPort,
  readAttributes,
  readText,
  subscribe,
} from "../netlink/index.ts";
import { NFGENMSG_LENGTH, NFNLGRP_NFTABLES, NFT_MSG_NEWGEN, SUBSYSTEM_NFTABLES } from "./events.ts";

const NFPROTO_INET = 1;
/** The table's name is attribute 1 of tables, chains, rules, sets, elements and objects alike. */
const TABLE_NAME = 1;

export interface DriftOptions {
  /** Somebody else changed our table, or events were lost. */
  readonly onForeign: () => void;
  /** An event about another table. @default nobody */
  readonly onOther?: ((message: NetlinkMessage) => void) | undefined;
  /** Events were lost, after `onForeign`. @default nobody */
  readonly onOverrun?: (() => void) | undefined;
  /** Calls below netlink. @default the native addon */
  readonly port?: NetlinkPort | undefined;
}

/** Watches the tables from now until `close`. */
export class DriftWatch {
  readonly #close: () => void;
  readonly #onForeign: () => void;
  readonly #onOther: (message: NetlinkMessage) => void;
  /** Whether a message of the transaction that is being told named the table. */
  #touched = false;
  /** Generations that touched the table while a transaction of ours was under way; undefined while there is none. */
  #during: number | undefined;

  constructor({ onForeign, onOther, onOverrun, port }: DriftOptions) {
    this.#onForeign = onForeign;
    this.#onOther = onOther ?? (() => undefined);
    this.#close = subscribe({
      protocol: NETLINK_NETFILTER,
      groups: [NFNLGRP_NFTABLES],
      port,
      onMessage: (message) => this.#take(message),
      onOverrun: () => {
        onForeign();
        onOverrun?.();
      },
    });
  }

  /** Does a transaction of ours that touches the table exactly once if it succeeds. */
  async own<T>(transaction: () => Promise<T>): Promise<T> {
    this.#during = 0;
    let ours = 0;
    try {
      const result = await transaction();
      ours = 1;
      return result;
    } finally {
      // The kernel queued the events before the program ended; two turns of the loop surely read them.
      await setImmediate();
      await setImmediate();
      const seen = this.#during;
      this.#during = undefined;
      if (seen > ours) this.#onForeign();
    }
  }

  close(): void {
    this.#close();
  }

  #take(message: NetlinkMessage): void {
    if (message.type >> 8 !== SUBSYSTEM_NFTABLES) return;
    if ((message.type & 0xff) !== NFT_MSG_NEWGEN) {
      if (isAboutTable(message.payload)) this.#touched = true;
      else this.#onOther(message);
      return;
    }
    if (!this.#touched) return;
    this.#touched = false;
    if (this.#during === undefined) this.#onForeign();
    else this.#during++;
  }
}

function isAboutTable(payload: Uint8Array): boolean {
  if (payload[0] !== NFPROTO_INET) return false;
  return readText(readAttributes(payload.subarray(NFGENMSG_LENGTH)).get(TABLE_NAME)) === NFT_TABLE;
}
