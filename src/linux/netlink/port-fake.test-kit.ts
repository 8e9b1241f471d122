/** A port without a kernel: tests play the kernel's part. */
import { constants } from "node:os";
import { ByteWriter } from "./bytes.ts";
import { MESSAGE_HEADER, type NetlinkMessage, readMessages } from "./message.ts";
import type { NetlinkPort } from "./port.ts";

/** One datagram of the kernel's, or a negative errno. */
export type FakeDatagram = Uint8Array | number;

/** What a test's kernel answers to the messages of one datagram. */
export type FakeKernel = (
  messages: readonly NetlinkMessage[],
  socket: { fd: number; portId: number },
) => FakeDatagram[];

interface FakeSocket {
  readonly queue: FakeDatagram[];
  readonly groups: number;
  callback?: (status: number) => void;
}

/** A NetlinkPort whose answers come from a function. The port id of a socket is 1000 more than its descriptor. */
export class FakePort implements NetlinkPort {
  readonly sockets = new Map<number, FakeSocket>();
  readonly #kernel: FakeKernel;
  #nextFd = 3;

  constructor(kernel: FakeKernel = () => []) {
    this.#kernel = kernel;
  }

  open(_protocol: number, groups: number): number {
    const fd = this.#nextFd++;
    this.sockets.set(fd, { queue: [], groups });
    return fd;
  }

  port(fd: number): number {
    return fd + 1000;
  }

  send(fd: number, bytes: Uint8Array): number {
    const socket = this.sockets.get(fd);
    if (socket === undefined) return -constants.errno.EBADF;
    socket.queue.push(...this.#kernel(readMessages(bytes), { fd, portId: this.port(fd) }));
    return bytes.length;
  }

  recv(fd: number, into: Uint8Array): number {
    const next = this.sockets.get(fd)?.queue.shift();
    if (next === undefined) return -constants.errno.EAGAIN;
    if (typeof next === "number") return next;
    if (next.length > into.length) return -constants.errno.EMSGSIZE;
    into.set(next);
    return next.length;
  }

  poll(fd: number, callback: (status: number) => void): number {
    const socket = this.sockets.get(fd);
    if (socket === undefined) return -constants.errno.EBADF;
    socket.callback = callback;
    return 0;
  }

  close(fd: number): number {
    return this.sockets.delete(fd) ? 0 : -constants.errno.EBADF;
  }

  /** Lets every polled socket find these datagrams. */
  emit(...datagrams: FakeDatagram[]): void {
    for (const socket of this.sockets.values()) {
      if (socket.callback === undefined) continue;
      socket.queue.push(...datagrams);
      socket.callback(0);
    }
  }
}

/** A datagram of one message as the kernel writes it. */
export function kernelMessage(message: Partial<NetlinkMessage>): Uint8Array {
  const payload = message.payload ?? new Uint8Array();
  const writer = new ByteWriter().u32(MESSAGE_HEADER + payload.length);
  writer.u16(message.type ?? 0).u16(message.flags ?? 0);
  writer.u32(message.sequence ?? 0).u32(message.portId ?? 0);
  return writer.raw(payload).pad().finish();
}

/** The acknowledgement (errno 0) or refusal of a request, capped, with the kernel's words if `text` is given. */
export function kernelVerdict(request: NetlinkMessage, errno = 0, text?: string): Uint8Array {
  const payload = new ByteWriter().u32(-errno >>> 0);
  payload.raw(new Uint8Array(MESSAGE_HEADER));
  if (text !== undefined) payload.attributeText(1, text);
  const flags = 0x100 | (text === undefined ? 0 : 0x200);
  return kernelMessage({ type: 2, flags, sequence: request.sequence, payload: payload.finish() });
}

/** The end of a dump. */
export function kernelDone(request: NetlinkMessage, flags = 0): Uint8Array {
  const payload = new ByteWriter().u32(0).finish();
  return kernelMessage({ type: 3, flags: 2 | flags, sequence: request.sequence, payload });
}
