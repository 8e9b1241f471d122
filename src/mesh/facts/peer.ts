/** What a Peer object says (kilo.md §3.3), with the corrections of reports K-89, S-02, S-06 and B31. */
import {
  type InterfaceAddress,
  networkOf,
  type Prefix,
  parseAddress,
  parseInterfaceAddress,
  uniquePrefixes,
} from "../../ip/index.ts";
import {
  type Endpoint,
  isDnsName,
  type PublicKey,
  parsePort,
  parsePublicKey,
  SecretKey,
  socketEndpoint,
} from "../../wireguard/index.ts";
import type { PeerObject } from "../objects.ts";
import { type Problem, type ProblemReason, peerProblem } from "../problems.ts";
import { readKeepalive } from "./annotations.ts";

export interface PeerFacts {
  readonly name: string;
  readonly publicKey?: PublicKey | undefined;
  readonly presharedKey?: SecretKey | undefined;
  /** The Peer wants a preshared key, and it cannot be read: a tunnel without one would be less than what was asked for. */
  readonly presharedKeyInvalid: boolean;
  readonly endpoint?: Endpoint | undefined;
  /** As written, host bits kept: Kilo compares these texts (kilo.md §5.4). */
  readonly writtenAllowedIPs: readonly InterfaceAddress[];
  /** Host bits cleared, without duplicates, in the order of the object. */
  readonly allowedIPs: readonly Prefix[];
  /** Seconds; 0 is off. Above 0 marks a Peer whose endpoint may change (kilo.md §5.8). */
  readonly persistentKeepalive: number;
}

/** Reads one Peer object. What cannot be read is passed over and named in `problems`. */
export function peerFacts(peer: PeerObject): {
  readonly facts: PeerFacts;
  readonly problems: readonly Problem[];
} {
  const reader = new PeerReader(peer);
  return { facts: reader.facts(), problems: reader.problems };
}

class PeerReader {
  readonly problems: Problem[] = [];
  readonly #name: string;
  readonly #spec: NonNullable<PeerObject["spec"]>;

  constructor(peer: PeerObject) {
    this.#name = peer.metadata.name;
    this.#spec = peer.spec ?? {};
  }

  facts(): PeerFacts {
    const written = this.#allowedIPs();
    const presharedKey = this.#presharedKey();
    return {
      name: this.#name,
      publicKey: this.#publicKey(),
      presharedKey: presharedKey === "invalid" ? undefined : presharedKey,
      presharedKeyInvalid: presharedKey === "invalid",
      endpoint: this.#endpoint(),
      writtenAllowedIPs: written,
      allowedIPs: uniquePrefixes(written.map(networkOf)),
      persistentKeepalive: this.#keepalive(),
    };
  }

  /** One that cannot be read is why the Peer takes no part: told there (`whyPeerNotReady`), once. The preshared key too. */
  #publicKey(): PublicKey | undefined {
    return parsePublicKey(this.#spec.publicKey?.trim() ?? "");
  }

  /** The value is a secret, so no message shows it. */
  #presharedKey(): SecretKey | "invalid" | undefined {
    const text = this.#spec.presharedKey;
    if (text === undefined || text === "") return undefined;
    const key = SecretKey.parse(text);
    if (key === undefined) return "invalid";
    return key.isZero() ? undefined : key;
  }

  #allowedIPs(): InterfaceAddress[] {
    const found: InterfaceAddress[] = [];
    for (const text of this.#spec.allowedIPs ?? []) {
      const parsed = parseInterfaceAddress(text);
      if (parsed === undefined) {
        this.#report("peer-invalid", `cannot read allowed IP: not a prefix ("${text}")`);
        continue;
      }
      const network = networkOf(parsed);
      if (network.text !== parsed.text) {
        this.#report("host-bits-masked", `allowed IP ${parsed.text} is read as ${network.text}`);
      }
      found.push(parsed);
    }
    return found;
  }

  /** An address wins over a name (report S-06); the older `{ip, port}` is read too (report K-89). */
  #endpoint(): Endpoint | undefined {
    const { endpoint } = this.#spec;
    if (endpoint === undefined || endpoint === null) return undefined;
    const port = parsePort(String(endpoint.port));
    const ip = endpoint.dnsOrIP?.ip ?? endpoint.ip ?? "";
    const name = endpoint.dnsOrIP?.dns ?? "";
    const address = parseAddress(ip);
    if (port !== undefined && address !== undefined) return socketEndpoint(address, port);
    if (port !== undefined && isDnsName(name)) return { kind: "name", name, port };
    this.#report("peer-invalid", `cannot read endpoint: ip "${ip}", dns "${name}", port ${endpoint.port}`);
    return undefined;
  }

  #keepalive(): number {
    const value = this.#spec.persistentKeepalive ?? 0;
    const seconds = readKeepalive(String(value));
    if (seconds === undefined)
      this.#report("peer-invalid", `cannot read persistentKeepalive: not 0..65535 (${value})`);
    return seconds ?? 0;
  }

  #report(reason: ProblemReason, message: string): void {
    this.problems.push(peerProblem(this.#name, reason, message));
  }
}
