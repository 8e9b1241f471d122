/** Endpoints: where a peer is reached, as an address or as a name that still has to be resolved. */
import { type Address, parseAddress } from "../ip/index.ts";

/** An endpoint as written in an annotation or a Peer. A `name` is lower-case and resolved by the agent. */
export type Endpoint =
  | { readonly kind: "address"; readonly address: Address; readonly port: number }
  | { readonly kind: "name"; readonly name: string; readonly port: number };

/** An endpoint that packets can be sent to. */
export type SocketEndpoint = Extract<Endpoint, { kind: "address" }>;

/**
 * Parses `1.2.3.4:51820`, `[fd00::1]:51820` or `host.example:51820` as Kilo does (kilo.md §2.1): port 1..65535, a name is a
 * lower-case RFC 1123 subdomain of at most 253 characters. Undefined for anything else.
 */
export function parseEndpoint(text: string): Endpoint | undefined {
  const colon = text.lastIndexOf(":");
  if (colon <= 0) return undefined;
  const port = parsePort(text.slice(colon + 1));
  if (port === undefined) return undefined;
  const host = text.slice(0, colon);
  if (host.startsWith("[") && host.endsWith("]")) {
    const address = parseAddress(host.slice(1, -1));
    return address?.family === 6 ? { kind: "address", address, port } : undefined;
  }
  const address = parseAddress(host);
  if (address !== undefined) return address.family === 4 ? { kind: "address", address, port } : undefined;
  return isDnsName(host) ? { kind: "name", name: host, port } : undefined;
}

/** A socket endpoint from its parts. */
export function socketEndpoint(address: Address, port: number): SocketEndpoint {
  return { kind: "address", address, port };
}

/** The text that `parseEndpoint` reads. Equal endpoints have equal texts. */
export function formatEndpoint(endpoint: Endpoint): string {
  if (endpoint.kind === "name") return `${endpoint.name}:${endpoint.port}`;
  const host = endpoint.address.family === 6 ? `[${endpoint.address.text}]` : endpoint.address.text;
  return `${host}:${endpoint.port}`;
}

/** Whether both are the same endpoint (or both none). */
export function sameEndpoint(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return formatEndpoint(a) === formatEndpoint(b);
}

/** Whether a text is a lower-case RFC 1123 subdomain. A text of digits and dots only is a mistyped address, not a name. */
export function isDnsName(text: string): boolean {
  if (text.length > 253 || /^[\d.]+$/.test(text)) return false;
  return text.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

/** A UDP port, 1..65535, in decimal; undefined for anything else. */
export function parsePort(text: string): number | undefined {
  if (!/^[1-9]\d{0,4}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65535 ? port : undefined;
}
