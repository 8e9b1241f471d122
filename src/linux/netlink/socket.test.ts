import assert from "node:assert/strict";
import { constants } from "node:os";
import { test } from "node:test";
import { NetlinkError } from "./error.ts";
import { type NetlinkMessage, NLM_F_DUMP_INTR, NLM_F_MULTI } from "./message.ts";
import { FakePort, kernelDone, kernelMessage, kernelVerdict } from "./port-fake.test-kit.ts";
import { NETLINK_ROUTE, NetlinkSocket, subscribe } from "./socket.ts";

const EMPTY = new Uint8Array();

test("each request of a batch gets its own result, in order, and one refusal stops nothing", () => {
  const datagramSizes: number[] = [];
  const port = new FakePort((messages) => {
    datagramSizes.push(messages.length);
    return messages.map((message) =>
      message.type === 7
        ? kernelVerdict(message, constants.errno.EEXIST, "File exists already")
        : kernelVerdict(message),
    );
  });
  const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port });
  const types = Array.from({ length: 300 }, (_, i) => (i === 200 ? 7 : 1));

  const results = socket.batch(types.map((type) => ({ type, payload: EMPTY, what: `do ${type}` })));

  assert.deepEqual(datagramSizes, [128, 128, 44]);
  assert.deepEqual(
    results.flatMap((result, index) => (result.error === undefined ? [] : [[index, result.error.message]])),
    [[200, "cannot do 7: File exists already (EEXIST)"]],
  );
  assert.equal(results[200]?.error?.code, "EEXIST");
  assert.equal(socket.mutations, 299);
});

test("a batch at once is one datagram, and marks without acknowledgement are not waited for", () => {
  let seen: readonly NetlinkMessage[] = [];
  const port = new FakePort((messages) => {
    seen = messages;
    return messages.filter((message) => (message.flags & 4) !== 0).map((message) => kernelVerdict(message));
  });
  const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port });
  const requests = Array.from({ length: 200 }, (_, i) => ({
    type: i,
    payload: EMPTY,
    acknowledge: i !== 0 && i !== 199,
  }));

  const results = socket.batch(requests, { atOnce: true });

  assert.equal(seen.length, 200);
  assert.ok(results.every((result) => result.error === undefined));
});

test("a request without an answer is an error, not a success", () => {
  const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port: new FakePort() });
  assert.throws(() => socket.request({ type: 1, payload: EMPTY, what: "ask" }), {
    code: "EIO",
    message: "cannot ask: no answer (EIO)",
  });
});

test("answers that belong to an earlier request are skipped", () => {
  const port = new FakePort((messages) =>
    messages.flatMap((message) => [
      kernelMessage({ type: 16, sequence: message.sequence - 1 }),
      kernelMessage({ type: 17, sequence: message.sequence }),
      kernelVerdict(message),
    ]),
  );
  const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port });
  socket.request({ type: 1, payload: EMPTY });
  const replies = socket.request({ type: 1, payload: EMPTY });
  assert.deepEqual(
    replies.map((reply) => reply.type),
    [17],
  );
});

test("an interrupted dump is begun anew, and given up after ten attempts", () => {
  let dumps = 0;
  let interruptions = 2;
  const port = new FakePort(([message]) => {
    if (message === undefined) return [];
    dumps++;
    const flags = dumps <= interruptions ? NLM_F_DUMP_INTR : 0;
    return [
      kernelMessage({ type: 16, flags: NLM_F_MULTI, sequence: message.sequence }),
      kernelMessage({ type: 16, flags: NLM_F_MULTI | flags, sequence: message.sequence }),
      kernelDone(message),
    ];
  });
  const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port });

  assert.equal(socket.dump({ type: 18, payload: EMPTY }).length, 2);
  assert.equal(dumps, 3);

  interruptions = 1000;
  dumps = 0;
  assert.throws(() => socket.dump({ type: 18, payload: EMPTY, what: "list links" }), { code: "EINTR" });
  assert.equal(dumps, 10);
});

test("an error at the end of a dump is thrown", () => {
  const port = new FakePort((messages) =>
    messages.map((message) => kernelVerdict(message, constants.errno.ENOENT)),
  );
  const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port });
  assert.throws(
    () => socket.dump({ type: 26, payload: EMPTY, what: "list routes" }),
    (error) => error instanceof NetlinkError && error.code === "ENOENT",
  );
});

test("events that were lost are told once, after what is still queued, and later events arrive", () => {
  const port = new FakePort();
  const told: string[] = [];
  const stop = subscribe({
    protocol: NETLINK_ROUTE,
    groups: [1, 7],
    port,
    onMessage: (message) => told.push(`event ${message.type}`),
    onOverrun: () => told.push("overrun"),
  });
  assert.equal([...port.sockets.values()][0]?.groups, 0x41);

  port.emit(
    -constants.errno.ENOBUFS,
    kernelMessage({ type: 24 }),
    -constants.errno.ENOBUFS,
    kernelMessage({ type: 25 }),
  );
  port.emit(kernelMessage({ type: 26 }));
  assert.deepEqual(told, ["event 24", "event 25", "overrun", "event 26"]);

  stop();
  stop();
  assert.equal(port.sockets.size, 0);
});

test("a listener that ends the subscription hears no more of the same datagrams", () => {
  const port = new FakePort();
  let heard = 0;
  const stop = subscribe({
    protocol: NETLINK_ROUTE,
    groups: [1],
    port,
    onMessage: () => {
      heard++;
      stop();
    },
    onOverrun: () => heard++,
  });
  port.emit(kernelMessage({ type: 16 }), kernelMessage({ type: 16 }), -constants.errno.ENOBUFS);
  assert.equal(heard, 1);
});

test("an overrun is told when the queue is empty: until then the kernel drops events without a word", () => {
  const port = new FakePort();
  const told: string[] = [];
  subscribe({
    protocol: NETLINK_ROUTE,
    groups: [1],
    port,
    onMessage: () => told.push("event"),
    onOverrun: () => told.push("overrun"),
  });
  const more = Array.from({ length: 5_000 }, () => kernelMessage({ type: 24 }));
  port.emit(-constants.errno.ENOBUFS, ...more);
  assert.equal(told.includes("overrun"), false, "others may run before all is read");
  port.emit();
  assert.equal(told.filter((what) => what === "event").length, 5_000);
  assert.deepEqual([told.indexOf("overrun"), told.lastIndexOf("overrun")], [5_000, 5_000]);
});
