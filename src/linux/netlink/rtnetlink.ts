/** Numbers of rtnetlink that more than one kind of object needs (linux/rtnetlink.h). */
import { type Address, addressFromBytes, type Family } from "../../ip/index.ts";

export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
export const RTM_GETLINK = 18;
export const RTM_SETLINK = 19;
export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
export const RTM_GETADDR = 22;
export const RTM_NEWROUTE = 24;
export const RTM_DELROUTE = 25;
export const RTM_GETROUTE = 26;
export const RTM_NEWRULE = 32;
export const RTM_DELRULE = 33;
export const RTM_GETRULE = 34;
export const RTM_NEWNETCONF = 80;

/** Multicast groups. */
export const RTNLGRP_LINK = 1;
export const RTNLGRP_IPV4_IFADDR = 5;
export const RTNLGRP_IPV4_ROUTE = 7;
export const RTNLGRP_IPV4_RULE = 8;
export const RTNLGRP_IPV6_IFADDR = 9;
export const RTNLGRP_IPV6_ROUTE = 11;
export const RTNLGRP_IPV6_RULE = 19;
export const RTNLGRP_IPV4_NETCONF = 24;

const AF_INET = 2;
const AF_INET6 = 10;

/** Both families, IPv4 first. */
export const FAMILIES: readonly Family[] = [4, 6];

/** The kernel's number of an address family. */
export function familyNumber(family: Family): number {
  return family === 4 ? AF_INET : AF_INET6;
}

/** The family of the kernel's number; undefined for what is neither IPv4 nor IPv6. */
export function familyOfNumber(number: number | undefined): Family | undefined {
  if (number === AF_INET) return 4;
  return number === AF_INET6 ? 6 : undefined;
}

/** An address of this family; undefined when there is none or its length is another family's. */
export function readAddress(bytes: Uint8Array | undefined, family: Family): Address | undefined {
  const address = bytes === undefined ? undefined : addressFromBytes(bytes);
  return address?.family === family ? address : undefined;
}
