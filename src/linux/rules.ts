/** kg's own policy rules. Their identity is all of them, so they are added and removed, never changed. */
import { addressToBytes, type Family, familyBits, makePrefix, type Prefix } from "../ip/index.ts";
import { type LinkRole, ROUTE_PROTOCOL, type Rule } from "../mesh/index.ts";
import { failureOf, refusal } from "./host-failure.ts";
import {
  ByteWriter,
  isNetlinkError,
  type NetlinkMessage,
  type NetlinkRequest,
  type NetlinkSocket,
  NLM_F_CREATE,
  NLM_F_EXCL,
  readAttributes,
  readText,
  readU32,
} from "./netlink/index.ts";
import {
  FAMILIES,
  familyNumber,
  familyOfNumber,
  RTM_DELRULE,
  RTM_GETRULE,
  RTM_NEWRULE,
  readAddress,
} from "./netlink/rtnetlink.ts";
import type { ApplyFailure, LinkNames } from "./ports.ts";

const FRA_DST = 1;
const FRA_SRC = 2;
const FRA_IIFNAME = 3;
const FRA_PRIORITY = 6;
const FRA_TABLE = 15;
const FRA_PROTOCOL = 21;
const FR_ACT_TO_TBL = 1;
const RULE_HEADER = 12;

/** A rule as the kernel has it. */
export interface KernelRule {
  readonly family: Family;
  readonly priority: number;
  readonly from?: Prefix | undefined;
  readonly to?: Prefix | undefined;
  /** Name of the link, which need not exist. */
  readonly inputLink?: string | undefined;
  readonly table: number;
  /** 0 when the kernel says none. */
  readonly protocol: number;
}

/** kg's own rules. One that names a link without role keeps `inputLink` undefined. Throws NetlinkError. */
export function readOwnRules(socket: NetlinkSocket, names: LinkNames): Rule[] {
  return FAMILIES.flatMap((family) => listRules(socket, family))
    .filter((rule) => rule.protocol === ROUTE_PROTOCOL)
    .map(({ priority, from, to, inputLink, table }) => {
      const role = inputLink === undefined ? undefined : names.roleOf(inputLink);
      return { priority, from, to, inputLink: role, table };
    });
}

/** Adds rules. One that somebody else made just so is reported. Throws NetlinkError only when the socket itself fails. */
export function addRules(socket: NetlinkSocket, names: LinkNames, rules: readonly Rule[]): ApplyFailure[] {
  return change(socket, names, rules, { type: RTM_NEWRULE, flags: NLM_F_CREATE | NLM_F_EXCL, verb: "add" });
}

/** Removes own rules. One that is gone already is no failure. Throws NetlinkError only when the socket itself fails. */
export function removeRules(socket: NetlinkSocket, names: LinkNames, rules: readonly Rule[]): ApplyFailure[] {
  return change(socket, names, rules, { type: RTM_DELRULE, flags: 0, verb: "remove" });
}

/** As `ip rule` writes it. */
export function formatRule(rule: Rule, linkName: (role: LinkRole) => string | undefined): string {
  const words = [`${rule.priority}:`, "from", rule.from?.text ?? "all"];
  if (rule.to !== undefined) words.push("to", rule.to.text);
  if (rule.inputLink !== undefined) words.push("iif", linkName(rule.inputLink) ?? rule.inputLink);
  words.push("lookup", String(rule.table));
  return words.join(" ");
}

/** The rule that a message tells of; undefined for garbage and other families. */
export function parseRule(message: NetlinkMessage): KernelRule | undefined {
  const { payload } = message;
  const family = familyOfNumber(payload[0]);
  if (family === undefined || payload.length < RULE_HEADER) return undefined;
  const attributes = readAttributes(payload.subarray(RULE_HEADER));
  return {
    family,
    priority: readU32(attributes.get(FRA_PRIORITY)) ?? 0,
    from: readPrefix(attributes.get(FRA_SRC), payload[2], family),
    to: readPrefix(attributes.get(FRA_DST), payload[1], family),
    inputLink: readText(attributes.get(FRA_IIFNAME)),
    table: readU32(attributes.get(FRA_TABLE)) ?? payload[4] ?? 0,
    protocol: attributes.get(FRA_PROTOCOL)?.[0] ?? 0,
  };
}

function listRules(socket: NetlinkSocket, family: Family): KernelRule[] {
  const payload = ruleHeader(familyNumber(family), 0, 0, 0).finish();
  try {
    const parts = socket.dump({ type: RTM_GETRULE, payload, what: `list IPv${family} rules` });
    return parts
      .map(parseRule)
      .filter((rule) => rule !== undefined)
      .filter((rule) => rule.family === family);
  } catch (error) {
    // The kernel was started without this family, or without policy routing.
    if (isNetlinkError(error, "EAFNOSUPPORT", "EOPNOTSUPP")) return [];
    throw error;
  }
}

function change(
  socket: NetlinkSocket,
  names: LinkNames,
  rules: readonly Rule[],
  how: { type: number; flags: number; verb: "add" | "remove" },
): ApplyFailure[] {
  const failures: ApplyFailure[] = [];
  const sent: string[] = [];
  const requests: NetlinkRequest[] = [];
  for (const rule of rules) {
    const text = formatRule(rule, (role) => names.nameOf(role));
    const payload = rulePayload(rule, names);
    if (typeof payload === "string") {
      failures.push(refusal("rule", text, "RULE", `cannot ${how.verb} rule ${text}: ${payload}`));
      continue;
    }
    sent.push(text);
    requests.push({ type: how.type, flags: how.flags, payload, what: `${how.verb} rule ${text}` });
  }
  for (const [index, result] of socket.batch(requests).entries()) {
    if (result.error === undefined) continue;
    if (how.verb === "remove" && isNetlinkError(result.error, "ENOENT", "ESRCH")) continue;
    failures.push(failureOf("rule", sent[index] ?? "", result.error));
  }
  return failures;
}

/** The bytes of a rule, or why it cannot be written. */
function rulePayload(rule: Rule, names: LinkNames): Uint8Array | string {
  const family = rule.from?.family ?? rule.to?.family;
  if (family === undefined) return "it names no prefix";
  if (rule.to !== undefined && rule.to.family !== family) return "its prefixes are of two address families";
  const link = rule.inputLink === undefined ? undefined : names.nameOf(rule.inputLink);
  if (rule.inputLink !== undefined && link === undefined) return `this host has no ${rule.inputLink} link`;

  const payload = ruleHeader(
    familyNumber(family),
    rule.to?.length ?? 0,
    rule.from?.length ?? 0,
    FR_ACT_TO_TBL,
  );
  if (rule.to !== undefined) payload.attribute(FRA_DST, addressToBytes(rule.to.base));
  if (rule.from !== undefined) payload.attribute(FRA_SRC, addressToBytes(rule.from.base));
  if (link !== undefined) payload.attributeText(FRA_IIFNAME, link);
  payload.attributeU32(FRA_PRIORITY, rule.priority);
  payload.attributeU32(FRA_TABLE, rule.table);
  return payload.attributeU8(FRA_PROTOCOL, ROUTE_PROTOCOL).finish();
}

function ruleHeader(family: number, toLength: number, fromLength: number, action: number): ByteWriter {
  const writer = new ByteWriter().u8(family).u8(toLength).u8(fromLength).u8(0);
  // The table is an attribute: eight bits are too few for it.
  return writer.u8(0).u8(0).u8(0).u8(action).u32(0);
}

function readPrefix(
  bytes: Uint8Array | undefined,
  length: number | undefined,
  family: Family,
): Prefix | undefined {
  const base = readAddress(bytes, family);
  if (base === undefined || length === undefined || length > familyBits(family)) return undefined;
  return makePrefix(base, length);
}
