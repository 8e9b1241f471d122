/** HostChanges as text: `+` is added or set, `-` removed, `~` changed in place. */
import type { CniState, FirewallChange, HostChanges, LinkChange } from "../../mesh/index.ts";
import { SET_NAMES } from "../../mesh/index.ts";
import { type DeviceChange, formatEndpoint, type PeerChange } from "../../wireguard/index.ts";
import { routeText, ruleText } from "./host-text.ts";
import type { NameOfKey } from "./peer-names.ts";
import { folded, section } from "./section.ts";

/** Only the sections in which something changes; one sentence when nothing does. Holds no secret. */
export function changesText(changes: HostChanges, nameOf: NameOfKey): string {
  const parts: [string, string[]][] = [
    ["WireGuard", deviceLines(changes.device, nameOf)],
    ["Links", [...linkLines("mesh", changes.mesh), ...linkLines("tunnel", changes.tunnel)]],
    [
      "Routes",
      [...signed("+", changes.setRoutes.map(routeText)), ...signed("-", changes.removeRoutes.map(routeText))],
    ],
    [
      "Rules",
      [...signed("+", changes.addRules.map(ruleText)), ...signed("-", changes.removeRules.map(ruleText))],
    ],
    ["Sets", firewallLines(changes.firewall)],
    ["CNI", cniLines(changes.cni)],
  ];
  const changed = parts.filter(([, lines]) => lines.length > 0);
  if (changed.length === 0) return "Nothing changes.\n";
  return changed.map(([title, lines]) => section(title, lines)).join("\n");
}

function deviceLines(change: DeviceChange | undefined, nameOf: NameOfKey): string[] {
  if (change === undefined) return [];
  const lines = change.peers.flatMap((peer) => peerLines(peer, nameOf(peer.publicKey)));
  if (change.listenPort !== undefined) lines.unshift(`~ listen port ${change.listenPort}`);
  if (change.privateKey !== undefined) lines.unshift("~ private key (hidden)");
  return lines;
}

/** The peer, and each field that is set in a line below it. */
function peerLines(change: PeerChange, name: string | undefined): string[] {
  const peer = `peer ${change.publicKey}${name === undefined ? "" : ` (${name})`}`;
  if (change.kind === "remove") return [`- ${peer}`];
  const sign = change.kind === "add" ? "+" : "~";
  const fields = [
    change.endpoint && `endpoint ${formatEndpoint(change.endpoint)}`,
    change.allowedIPs && `allowed IPs ${change.allowedIPs.map(({ text }) => text).join(", ") || "(none)"}`,
    change.persistentKeepalive !== undefined && `keepalive ${change.persistentKeepalive} s`,
    change.presharedKey !== undefined &&
      `preshared key ${change.presharedKey === null ? "removed" : "(hidden)"}`,
  ];
  const set = fields.filter((field) => typeof field === "string");
  return [`${sign} ${peer}`, ...set.flatMap((field) => folded(field, 6).map(under))];
}

function under(line: string): string {
  return `    ${line}`;
}

function linkLines(role: string, change: LinkChange | undefined): string[] {
  if (change === undefined) return [];
  const fields = [
    change.mtu !== undefined && `mtu ${change.mtu}`,
    change.up !== undefined && (change.up ? "up" : "down"),
    ...change.addAddresses.map(({ text }) => `+ ${text}`),
    ...change.removeAddresses.map(({ text }) => `- ${text}`),
  ];
  return [
    [`${change.create ? "+" : "~"} ${role}`, ...fields.filter((field) => typeof field === "string")].join(
      "; ",
    ),
  ];
}

function firewallLines(change: FirewallChange | undefined): string[] {
  if (change === undefined) return [];
  if (change.kind === "elements") {
    return change.sets.flatMap(({ set, add, remove }) => [
      ...signed(
        "+",
        add.map(({ text }) => `${set} ${text}`),
      ),
      ...signed(
        "-",
        remove.map(({ text }) => `${set} ${text}`),
      ),
    ]);
  }
  const sets = SET_NAMES.flatMap((set) => change.firewall.sets[set].map(({ text }) => `${set} ${text}`));
  return ["~ all rules and sets are written anew", ...signed("+", sets)];
}

function cniLines(cni: CniState | undefined): string[] {
  return cni === undefined
    ? []
    : [`~ ranges ${cni.ranges.map(({ text }) => text).join(" ")}`, `~ mtu ${cni.mtu}`];
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${sign} ${line}`);
}
