/** A HostState as text. Links are named by role: which link has the role is the host's business. */
import type { Firewall, HostState, MeshLink, Route, Rule, TunnelLink } from "../../mesh/index.ts";
import { MAIN_TABLE, SET_NAMES } from "../../mesh/index.ts";
import { deviceLines } from "./device-text.ts";
import type { NameOfKey } from "./peer-names.ts";
import { folded, section } from "./section.ts";

/** Sections for WireGuard, links, routes, rules, sets and the CNI file. Holds no secret. */
export function hostText(state: HostState, nameOf: NameOfKey): string {
  return [
    section("WireGuard", state.mesh === undefined ? [] : deviceLines(state.mesh.device, nameOf)),
    section("Links", linkLines(state)),
    section("Routes", state.routes.map(routeText)),
    section("Rules", state.rules.map(ruleText)),
    section(
      "Sets",
      setLines(state.firewall).flatMap((line) => folded(line)),
    ),
    section(
      "CNI",
      cniLines(state).flatMap((line) => folded(line)),
    ),
  ].join("\n");
}

/** A route in the words of `ip route`, e.g. `10.244.2.0/24 via 10.4.0.2 dev mesh src 10.0.1.1`. */
export function routeText(route: Route): string {
  return words([
    route.kind === "unicast" ? "" : route.kind,
    route.destination.text,
    route.gateway && `via ${route.gateway.text}`,
    route.link && `dev ${route.link}`,
    route.source && `src ${route.source.text}`,
    // The main table and the best metric are what one expects.
    route.table === MAIN_TABLE ? "" : `table ${route.table}`,
    route.metric === 0 ? "" : `metric ${route.metric}`,
  ]);
}

/** A policy rule in the words of `ip rule`. */
export function ruleText(rule: Rule): string {
  return words([
    `${rule.priority}: from ${rule.from?.text ?? "all"}`,
    rule.to && `to ${rule.to.text}`,
    rule.inputLink && `iif ${rule.inputLink}`,
    `lookup ${rule.table}`,
  ]);
}

function linkLines(state: HostState): string[] {
  const named: [string, MeshLink | TunnelLink | undefined][] = [
    ["mesh", state.mesh],
    ["tunnel", state.tunnel],
  ];
  return named.flatMap(([role, link]) => (link === undefined ? [] : [linkText(role, link)]));
}

function linkText(role: string, link: MeshLink | TunnelLink): string {
  const addresses = link.addresses.map(({ text }) => text).join(" ");
  return words([role, link.up ? "up" : "down", `mtu ${link.mtu}`, addresses]);
}

function setLines(firewall: Firewall | undefined): string[] {
  if (firewall === undefined) return [];
  const sets = SET_NAMES.map((name) => {
    const elements = firewall.sets[name].map(({ text }) => text).join(" ");
    return `${name}: ${elements === "" ? "(empty)" : elements}`;
  });
  const link = firewall.remoteInternalLink;
  return link === undefined
    ? sets
    : [...sets, `forwarded packets to remote_internal leave by ${link} or not at all`];
}

function cniLines({ cni }: HostState): string[] {
  return cni === undefined
    ? []
    : [`ranges ${cni.ranges.map(({ text }) => text).join(" ")}`, `mtu ${cni.mtu}`];
}

function words(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
}
