/** When two entries of a host are one and the same, and when they are also equal. */
import type { InterfaceAddress } from "../../ip/index.ts";
import type { Route, Rule } from "../host-state.ts";

/** The kernel has one route with this key: its place. */
export function routeKey({
  table,
  destination,
  metric,
}: Pick<Route, "table" | "destination" | "metric">): string {
  return `${table} ${destination.text} ${metric}`;
}

/** Two routes with the same key do the same when these texts are equal. */
export function routeContent({ kind, link, gateway, source }: Route): string {
  return `${kind} ${link} ${gateway?.text} ${source?.text}`;
}

/** All of a rule is its key. */
export function ruleKey({ priority, from, to, inputLink, table }: Rule): string {
  return `${priority} ${from?.text} ${to?.text} ${inputLink} ${table}`;
}

/** An address and its length: with another length it is another entry. */
export function addressKey(address: InterfaceAddress): string {
  return address.text;
}
