/** Addresses of links. */
import { addressToBytes, familyBits, type InterfaceAddress, interfaceAddress } from "../ip/index.ts";
import {
  ByteWriter,
  type NetlinkMessage,
  type NetlinkRequest,
  type NetlinkSocket,
  NLM_F_CREATE,
  NLM_F_EXCL,
  readAttributes,
  readU32,
} from "./netlink/index.ts";
import {
  familyNumber,
  familyOfNumber,
  RTM_DELADDR,
  RTM_GETADDR,
  RTM_NEWADDR,
  readAddress,
} from "./netlink/rtnetlink.ts";

const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_FLAGS = 8;
const IFA_F_TEMPORARY = 0x1;
const IFA_F_NODAD = 0x2;
const IFA_F_DADFAILED = 0x8;
const RT_SCOPE_LINK = 253;
const ADDRESS_HEADER = 8;

export interface LinkAddress {
  /** Index of its link. */
  readonly link: number;
  readonly on: InterfaceAddress;
  /** Of use on this link only, such as fe80::/10. */
  readonly linkLocal: boolean;
  /** Not for others to use: a temporary IPv6 address (RFC 8981), or one that another host has already. */
  readonly transient: boolean;
}

/** All addresses of this network namespace, both families. Throws NetlinkError. */
export function listAddresses(socket: NetlinkSocket): LinkAddress[] {
  const payload = addressHeader(0, 0, 0).finish();
  const parts = socket.dump({ type: RTM_GETADDR, payload, what: "list addresses" });
  return parts.map(parseAddressMessage).filter((address) => address !== undefined);
}

/** The address that a message tells of; undefined for garbage and other families. */
export function parseAddressMessage(message: NetlinkMessage): LinkAddress | undefined {
  const { payload } = message;
  const family = familyOfNumber(payload[0]);
  const length = payload[1];
  const link = readU32(payload, 4);
  if (family === undefined || length === undefined || link === undefined) return undefined;
  if (length > familyBits(family)) return undefined;
  const attributes = readAttributes(payload.subarray(ADDRESS_HEADER));
  const address = readAddress(attributes.get(IFA_LOCAL) ?? attributes.get(IFA_ADDRESS), family);
  if (address === undefined) return undefined;
  const flags = readU32(attributes.get(IFA_FLAGS)) ?? payload[2] ?? 0;
  return {
    link,
    on: interfaceAddress(address, length),
    linkLocal: payload[3] === RT_SCOPE_LINK,
    transient: family === 6 && (flags & (IFA_F_TEMPORARY | IFA_F_DADFAILED)) !== 0,
  };
}

/** Puts an address on a link. An IPv6 address is of use at once: nobody else can have a tunnel address. EEXIST when it is there. */
export function addAddressRequest(
  link: { index: number; name: string },
  on: InterfaceAddress,
): NetlinkRequest {
  const payload = addressPayload(link.index, on);
  if (on.address.family === 6) payload.attributeU32(IFA_FLAGS, IFA_F_NODAD);
  return {
    type: RTM_NEWADDR,
    flags: NLM_F_CREATE | NLM_F_EXCL,
    payload: payload.finish(),
    what: `add address ${on.text} to ${link.name}`,
  };
}

/** Takes an address from a link. EADDRNOTAVAIL when it is not there. */
export function removeAddressRequest(
  link: { index: number; name: string },
  on: InterfaceAddress,
): NetlinkRequest {
  const payload = addressPayload(link.index, on).finish();
  return { type: RTM_DELADDR, payload, what: `remove address ${on.text} from ${link.name}` };
}

function addressPayload(index: number, on: InterfaceAddress): ByteWriter {
  const bytes = addressToBytes(on.address);
  return addressHeader(familyNumber(on.address.family), on.length, index)
    .attribute(IFA_LOCAL, bytes)
    .attribute(IFA_ADDRESS, bytes);
}

function addressHeader(family: number, length: number, index: number): ByteWriter {
  return new ByteWriter().u8(family).u8(length).u8(0).u8(0).u32(index);
}
