/** Plans as JSON: the types of `mesh`, with addresses, prefixes and endpoints as the texts people write. */
import { type Endpoint, formatEndpoint } from "../../wireguard/index.ts";

/** Indented JSON with a line break at its end. Secrets become `(hidden)` by their own type. */
export function planJson(value: unknown): string {
  return `${JSON.stringify(value, (_key, part: unknown) => asText(part), 2)}\n`;
}

function asText(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (isEndpoint(part)) return formatEndpoint(part);
  // Address, Prefix and InterfaceAddress all carry their canonical text.
  return "text" in part && typeof part.text === "string" ? part.text : part;
}

function isEndpoint(part: object): part is Endpoint {
  return "kind" in part && (part.kind === "address" || part.kind === "name") && "port" in part;
}
