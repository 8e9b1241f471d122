/** Netlink messages: the header, and the kernel's answers (linux/netlink.h). */
import { align, type ByteWriter, readAttributes, readI32, readText, readU16, readU32 } from "./bytes.ts";

export const NLM_F_REQUEST = 0x1;
export const NLM_F_MULTI = 0x2;
export const NLM_F_ACK = 0x4;
/** In a part of a dump: what is dumped changed meanwhile, the dump may be inconsistent. */
export const NLM_F_DUMP_INTR = 0x10;
export const NLM_F_DUMP = 0x300;
export const NLM_F_REPLACE = 0x100;
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;

const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const NLM_F_CAPPED = 0x100;
const NLM_F_ACK_TLVS = 0x200;
const NLMSGERR_ATTR_MSG = 1;

export const MESSAGE_HEADER = 16;

/** A message of the kernel's. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  /** In a notification: the port id of the socket whose request caused it; 0 for the kernel itself. */
  readonly portId: number;
  /** A view into the datagram. */
  readonly payload: Uint8Array;
}

/** What the kernel says to a request: done (`errno` 0) or an error, a positive number. */
export interface Verdict {
  readonly errno: number;
  /** The kernel's own words (NETLINK_EXT_ACK), where it has any. */
  readonly text?: string | undefined;
}

/** Writes one message. `payload` is all that follows the netlink header. */
export function writeMessage(
  into: ByteWriter,
  header: { type: number; flags: number; sequence: number },
  payload: Uint8Array,
): void {
  into.u32(MESSAGE_HEADER + payload.length);
  into.u16(header.type).u16(header.flags);
  into.u32(header.sequence).u32(0);
  into.raw(payload).pad();
}

/** The messages of one datagram. Stops at the first whose length cannot be. */
export function readMessages(datagram: Uint8Array): NetlinkMessage[] {
  const found: NetlinkMessage[] = [];
  let at = 0;
  while (at + MESSAGE_HEADER <= datagram.length) {
    const length = readU32(datagram, at) ?? 0;
    if (length < MESSAGE_HEADER || at + length > datagram.length) break;
    found.push({
      type: readU16(datagram, at + 4) ?? 0,
      flags: readU16(datagram, at + 6) ?? 0,
      sequence: readU32(datagram, at + 8) ?? 0,
      portId: readU32(datagram, at + 12) ?? 0,
      payload: datagram.subarray(at + MESSAGE_HEADER, at + length),
    });
    at += align(length);
  }
  return found;
}

/** The verdict in a message; undefined when it is none. The end of a dump is one too: it may carry the dump's error. */
export function readVerdict(message: NetlinkMessage): Verdict | undefined {
  if (message.type === NLMSG_DONE) {
    const errno = Math.abs(readI32(message.payload) ?? 0);
    return { errno, text: readErrorText(message, 4) };
  }
  if (message.type !== NLMSG_ERROR) return undefined;
  const errno = Math.abs(readI32(message.payload) ?? 0);
  return { errno, text: readErrorText(message, attributesOfError(message)) };
}

/** Behind the error number stands the header of the request, and the whole request unless the answer is capped. */
function attributesOfError(message: NetlinkMessage): number {
  if ((message.flags & NLM_F_CAPPED) !== 0) return 4 + MESSAGE_HEADER;
  return 4 + align(readU32(message.payload, 4) ?? MESSAGE_HEADER);
}

function readErrorText(message: NetlinkMessage, offset: number): string | undefined {
  if ((message.flags & NLM_F_ACK_TLVS) === 0 || offset > message.payload.length) return undefined;
  return readText(readAttributes(message.payload.subarray(offset)).get(NLMSGERR_ATTR_MSG));
}
