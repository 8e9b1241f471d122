/** The nftables rules of a place's router, as text for `nft -f`. Pure. */
import type { PlacedHost } from "./addressing.ts";
import { ScenarioError } from "./errors.ts";
import type { Nat, Place } from "./scenario.ts";

/**
 * A stateful router: the LAN hides behind the public address, and nothing new comes in from the uplink but what is forwarded.
 *
 * New UDP to the router itself is dropped in `input`. Without that the connection table would keep it, and a host behind the router that
 * later sends from the same port to the same place would get another port: hole punching would fail for a reason that home routers do not have.
 */
export function natRules(place: Place, nat: Nat, hosts: readonly PlacedHost[]): string {
  const incoming = [
    ...(nat.oneToOne ?? []).map(
      ({ address, host }) => `ip daddr ${address} dnat to ${lanAddress(place, host, hosts)}`,
    ),
    ...(nat.forwards ?? []).map(
      ({ port, host }) =>
        `ip daddr ${nat.address} udp dport ${port} dnat to ${lanAddress(place, host, hosts)}`,
    ),
  ];
  const outgoing = [
    ...(nat.oneToOne ?? []).map(
      ({ address, host }) => `oifname "wan" ip saddr ${lanAddress(place, host, hosts)} snat to ${address}`,
    ),
    `oifname "wan" snat to ${nat.address}${nat.ports === "random" ? " fully-random" : ""}`,
  ];
  return [
    "table ip router {",
    chain("incoming", "type nat hook prerouting priority dstnat", incoming),
    chain("outgoing", "type nat hook postrouting priority srcnat", outgoing),
    chain("forward", "type filter hook forward priority filter", [
      "ct state established,related accept",
      'iifname "wan" ct status dnat accept',
      'iifname "wan" drop',
    ]),
    chain("input", "type filter hook input priority filter", [
      'iifname "wan" ct state new meta l4proto udp drop',
    ]),
    "}",
    "",
  ].join("\n");
}

function chain(name: string, hook: string, rules: readonly string[]): string {
  return [`  chain ${name} {`, `    ${hook};`, ...rules.map((rule) => `    ${rule}`), "  }"].join("\n");
}

function lanAddress(place: Place, name: string, hosts: readonly PlacedHost[]): string {
  const host = hosts.find((candidate) => candidate.name === name && candidate.place === place);
  const address = host?.privateAddress?.split("/")[0];
  if (address === undefined)
    throw new ScenarioError(`cannot build NAT of ${place.name}: no host ${name} in it`);
  return address;
}
