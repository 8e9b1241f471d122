import assert from "node:assert/strict";
import { constants } from "node:os";
import { test } from "node:test";
import { parseAddress, parsePrefix } from "../ip/index.ts";
import { MAIN_TABLE, ROUTE_PROTOCOL, type Route } from "../mesh/index.ts";
import { LinkRoles } from "./link-names.ts";
import { LinksByRole } from "./links-by-role.ts";
import {
  ByteWriter,
  NETLINK_ROUTE,
  type NetlinkMessage,
  NetlinkSocket,
  NLM_F_DUMP,
  NLM_F_EXCL,
  NLM_F_REPLACE,
} from "./netlink/index.ts";
import {
  type FakeDatagram,
  FakePort,
  kernelDone,
  kernelMessage,
  kernelVerdict,
} from "./netlink/port-fake.test-kit.ts";
import { RTM_DELROUTE, RTM_GETLINK, RTM_GETROUTE, RTM_NEWROUTE } from "./netlink/rtnetlink.ts";
import { readOwnRoutes, removeRoutes, setRoutes } from "./routes.ts";
import { addRouteRequest, type RouteToWrite } from "./routes-codec.ts";

const MESH_INDEX = 7;
const OLD: RouteToWrite = {
  kind: "unicast",
  destination: parsePrefix("fd02::/64") ?? assert.fail(),
  gateway: parseAddress("fd04::2"),
  link: MESH_INDEX,
  source: undefined,
  table: MAIN_TABLE,
  metric: 0,
  protocol: ROUTE_PROTOCOL,
};
const NEW: Route = { ...route(OLD), gateway: undefined };

test("an IPv6 route that the kernel does not replace is removed, exactly it, and added", () => {
  const told: string[] = [];
  const kernel = fakeKernel([OLD], told, (message) =>
    message.type === RTM_NEWROUTE && (message.flags & NLM_F_REPLACE) !== 0
      ? constants.errno.ENOENT
      : undefined,
  );
  assert.deepEqual(setRoutes(kernel.socket, kernel.links, [NEW]), []);
  assert.deepEqual(told, ["add excl: EEXIST", "replace: ENOENT", "remove", "add excl"]);
});

test("own routes of other tables, and what another protocol made, are not read as ours", () => {
  const others = [
    { ...OLD, table: 100 },
    { ...OLD, protocol: 4, metric: 3 },
  ];
  const kernel = fakeKernel([OLD, ...others], [], () => undefined);
  const routes = readOwnRoutes(kernel.socket, kernel.links);
  assert.deepEqual(
    routes.map((own) => [own.destination.text, own.link, own.gateway?.text, own.table]),
    [["fd02::/64", "mesh", "fd04::2", MAIN_TABLE]],
  );
});

test("an own route through a link without role reads as a route without link, which equals no planned one", () => {
  const kernel = fakeKernel([{ ...OLD, link: 99 }], [], () => undefined);
  assert.equal(readOwnRoutes(kernel.socket, kernel.links)[0]?.link, undefined);
});

test("a kernel without IPv6 has no IPv6 routes, and that is no error", () => {
  const kernel = fakeKernel([], [], (message) =>
    message.payload[0] === 10 ? constants.errno.EAFNOSUPPORT : undefined,
  );
  assert.deepEqual(readOwnRoutes(kernel.socket, kernel.links), []);
});

test("a route that is gone already counts as removed; another refusal is a failure that names it", () => {
  let errno = constants.errno.ESRCH;
  const kernel = fakeKernel([], [], (message) => (message.type === RTM_DELROUTE ? errno : undefined));
  assert.deepEqual(removeRoutes(kernel.socket, kernel.links, [NEW]), []);
  errno = constants.errno.EPERM;
  const [failure] = removeRoutes(kernel.socket, kernel.links, [NEW]);
  assert.equal(failure?.message, "cannot remove route fd02::/64 dev kilo0: EPERM");
  assert.equal(failure?.code, "EPERM");
});

/** A kernel that holds these routes and one link; `refuse` gives an errno for a message that it refuses. */
function fakeKernel(
  routes: readonly RouteToWrite[],
  told: string[],
  refuse: (message: NetlinkMessage) => number | undefined,
) {
  let held = [...routes];
  const answer = (message: NetlinkMessage): FakeDatagram[] => {
    const errno = refuse(message);
    if (message.type === RTM_GETLINK) return [linkAnswer(message), kernelVerdict(message)];
    if ((message.flags & NLM_F_DUMP) === NLM_F_DUMP && message.type === RTM_GETROUTE) {
      if (errno !== undefined) return [kernelVerdict(message, errno)];
      return [...held.map((own) => routeAnswer(own, message)), kernelDone(message)];
    }
    if (message.type === RTM_DELROUTE) {
      told.push("remove");
      held = [];
      return [kernelVerdict(message, errno)];
    }
    const exclusive = (message.flags & NLM_F_EXCL) !== 0;
    const verdict = errno ?? (exclusive && held.length > 0 ? constants.errno.EEXIST : 0);
    const name = { 0: "", [constants.errno.EEXIST]: ": EEXIST", [constants.errno.ENOENT]: ": ENOENT" }[
      verdict
    ];
    told.push(`${exclusive ? "add excl" : "replace"}${name}`);
    return [kernelVerdict(message, verdict)];
  };
  const port = new FakePort((messages) => messages.flatMap(answer));
  const socket = new NetlinkSocket({ protocol: NETLINK_ROUTE, port });
  return { socket, links: LinksByRole.read(socket, new LinkRoles({ mesh: "kilo0" })) };
}

function linkAnswer(request: NetlinkMessage): Uint8Array {
  const payload = new ByteWriter().u32(0).u32(MESH_INDEX).u32(1).u32(0).attributeText(3, "kilo0").finish();
  return kernelMessage({ type: 16, sequence: request.sequence, payload });
}

function routeAnswer(own: RouteToWrite, request: NetlinkMessage): Uint8Array {
  const { payload } = addRouteRequest(own, 0, "");
  return kernelMessage({ type: RTM_NEWROUTE, flags: 2, sequence: request.sequence, payload });
}

function route(own: RouteToWrite): Route {
  const { kind, destination, gateway, source, table, metric } = own;
  return { kind, destination, link: "mesh", gateway, source, table, metric };
}
