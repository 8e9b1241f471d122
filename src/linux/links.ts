/** Links: finding and changing them. Changes are values, so that a driver sends many in one batch. */
import {
  ByteWriter,
  isNetlinkError,
  type NetlinkMessage,
  type NetlinkRequest,
  type NetlinkSocket,
  readAttributes,
  readI32,
  readText,
  readU32,
} from "./netlink/index.ts";
import { RTM_GETLINK, RTM_SETLINK } from "./netlink/rtnetlink.ts";

const IFLA_IFNAME = 3;
const IFLA_MTU = 4;
const IFLA_LINKINFO = 18;
const IFLA_INFO_KIND = 1;
const IFLA_AF_SPEC = 26;
const IFLA_EXT_MASK = 29;
const IFLA_INET_CONF = 1;
const IPV4_DEVCONF_PROMOTE_SECONDARIES = 20;

/** Leaves out the counters: an answer is then a quarter of its size. */
const RTEXT_FILTER_SKIP_STATS = 8;
const AF_INET = 2;
const IFF_UP = 0x1;
const IFF_LOOPBACK = 0x8;
const LINK_HEADER = 16;

/** The longest name of a link, in bytes (IFNAMSIZ less the closing zero). */
export const LINK_NAME_LENGTH = 15;

export interface Link {
  readonly index: number;
  readonly name: string;
  /** rtnetlink's kind; undefined for physical links and loopback. */
  readonly kind: string | undefined;
  readonly up: boolean;
  readonly loopback: boolean;
  /** Bytes. */
  readonly mtu: number;
}

/** The link with this name; undefined when there is none. Throws NetlinkError. */
export function findLink(socket: NetlinkSocket, name: string): Link | undefined {
  if (name === "" || Buffer.byteLength(name) > LINK_NAME_LENGTH) return undefined;
  const payload = linkHeader(0).attributeU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  payload.attributeText(IFLA_IFNAME, name);
  try {
    const replies = socket.request({
      type: RTM_GETLINK,
      payload: payload.finish(),
      readOnly: true,
      what: `find link ${name}`,
    });
    return replies.map(parseLink).find((link) => link !== undefined);
  } catch (error) {
    if (isNetlinkError(error, "ENODEV")) return undefined;
    throw error;
  }
}

/** All links of this network namespace. Throws NetlinkError. */
export function listLinks(socket: NetlinkSocket): Link[] {
  const payload = linkHeader(0).attributeU32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS).finish();
  const parts = socket.dump({ type: RTM_GETLINK, payload, what: "list links" });
  return parts.map(parseLink).filter((link) => link !== undefined);
}

/** The link that a message tells of (an answer, RTM_NEWLINK or RTM_DELLINK); undefined for garbage. */
export function parseLink(message: NetlinkMessage): Link | undefined {
  const { payload } = message;
  const index = readI32(payload, 4);
  const flags = readU32(payload, 8);
  if (index === undefined || flags === undefined) return undefined;
  const attributes = readAttributes(payload.subarray(LINK_HEADER));
  const name = readText(attributes.get(IFLA_IFNAME));
  if (name === undefined) return undefined;
  const info = attributes.get(IFLA_LINKINFO);
  return {
    index,
    name,
    kind: info === undefined ? undefined : readText(readAttributes(info).get(IFLA_INFO_KIND)),
    up: (flags & IFF_UP) !== 0,
    loopback: (flags & IFF_LOOPBACK) !== 0,
    mtu: readU32(attributes.get(IFLA_MTU)) ?? 0,
  };
}

/** Sets a link's MTU, in bytes. */
export function mtuRequest(link: { index: number; name: string }, mtu: number): NetlinkRequest {
  const payload = linkHeader(link.index).attributeU32(IFLA_MTU, mtu).finish();
  return { type: RTM_SETLINK, payload, what: `set the MTU of ${link.name} to ${mtu}` };
}

/** Sets a link up or down. Down flushes its routes, those of IPv4 without an event (kilo.md B53). */
export function upRequest(link: { index: number; name: string }, up: boolean): NetlinkRequest {
  const payload = linkHeader(link.index, up ? IFF_UP : 0, IFF_UP).finish();
  return { type: RTM_SETLINK, payload, what: `set ${link.name} ${up ? "up" : "down"}` };
}

/**
 * Lets a link keep its other IPv4 addresses when the first of a network is removed. Without it the kernel removes them too, and with
 * the last address every IPv4 route of the link: an address could not be changed without losing all routes.
 */
export function promoteSecondariesRequest(link: { index: number; name: string }): NetlinkRequest {
  const payload = linkHeader(link.index);
  payload.nested(IFLA_AF_SPEC, (spec) =>
    spec.nested(AF_INET, (inet) =>
      inet.nested(IFLA_INET_CONF, (conf) => conf.attributeU32(IPV4_DEVCONF_PROMOTE_SECONDARIES, 1)),
    ),
  );
  return { type: RTM_SETLINK, payload: payload.finish(), what: `let ${link.name} keep secondary addresses` };
}

function linkHeader(index: number, flags = 0, change = 0): ByteWriter {
  return new ByteWriter().u8(0).u8(0).u16(0).u32(index).u32(flags).u32(change);
}
