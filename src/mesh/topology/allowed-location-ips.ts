/** Which allowed-location-ips a segment may announce (kilo.md §5.5). Contract: leaders must agree on each other's allowed IPs. */
import { createPrefixIndex, hostPrefix, type Prefix } from "../../ip/index.ts";
import { positionOf } from "./numbering.ts";

/** A segment as far as the filter looks at it. */
export interface LocationIPsOf {
  readonly name: string;
  /** Pod CIDRs and internal IPs, without the tunnel address. */
  readonly ownPrefixes: readonly Prefix[];
  /** Wanted entries, sorted by text, without duplicates. */
  readonly wanted: readonly Prefix[];
}

/** Why an entry was dropped; `other` names the segment or says what it collides with. */
export interface DroppedLocationIP {
  readonly segment: string;
  readonly prefix: Prefix;
  readonly other: string;
}

/**
 * Goes through the segments in their order, as Kilo does while it numbers them, and drops an entry that
 * (a) meets an entry of another segment, earlier ones filtered already and later ones not yet: of equal entries the last segment's stays;
 * (b) begins inside a pod CIDR, an internal IP or a tunnel address given so far, of any segment;
 * (c) meets an allowed IP of an external Peer.
 * The result has one list per segment.
 */
export function filterLocationIPs(
  segments: readonly LocationIPsOf[],
  subnet: Prefix,
  peerAllowedIPs: readonly { readonly peer: string; readonly prefix: Prefix }[],
): { readonly kept: readonly (readonly Prefix[])[]; readonly dropped: readonly DroppedLocationIP[] } {
  const meeting = new MeetingPoints(segments, subnet, peerAllowedIPs);
  const dropped: DroppedLocationIP[] = [];
  const kept = segments.map((segment, i) => {
    return segment.wanted.filter((prefix) => {
      const other = meeting.collision(prefix, i);
      if (other === undefined) return true;
      meeting.forget(prefix, i);
      dropped.push({ segment: segment.name, prefix, other });
      return false;
    });
  });
  return { kept, dropped };
}

/** Answers what an entry collides with, without comparing each with each. */
class MeetingPoints {
  readonly #subnet: Prefix;
  readonly #segments: readonly LocationIPsOf[];
  readonly #entries;
  readonly #prefixes;
  readonly #peers;
  readonly #forgotten = new Set<string>();

  constructor(
    segments: readonly LocationIPsOf[],
    subnet: Prefix,
    peers: readonly { readonly peer: string; readonly prefix: Prefix }[],
  ) {
    this.#subnet = subnet;
    this.#segments = segments;
    this.#entries = createPrefixIndex(
      segments.flatMap(({ wanted }, i) => wanted.map((prefix) => [prefix, i] as const)),
    );
    this.#prefixes = createPrefixIndex(
      segments.flatMap(({ ownPrefixes, name }) => ownPrefixes.map((prefix) => [prefix, name] as const)),
    );
    this.#peers = createPrefixIndex(peers.map(({ peer, prefix }) => [prefix, peer] as const));
  }

  collision(prefix: Prefix, segment: number): string | undefined {
    return this.#otherEntry(prefix, segment) ?? this.#meshPrefix(prefix, segment) ?? this.#peer(prefix);
  }

  forget(prefix: Prefix, segment: number): void {
    this.#forgotten.add(entryKey(prefix, segment));
  }

  #otherEntry(prefix: Prefix, segment: number): string | undefined {
    for (const find of [this.#entries.covering, this.#entries.within]) {
      for (const [other, owner] of find.call(this.#entries, prefix)) {
        if (owner === segment || this.#forgotten.has(entryKey(other, owner))) continue;
        return `${other.text} of ${this.#segments[owner]?.name}`;
      }
    }
    return undefined;
  }

  #meshPrefix(prefix: Prefix, segment: number): string | undefined {
    const [covering] = this.#prefixes.covering(hostPrefix(prefix.base));
    if (covering !== undefined) return `${covering[0].text} of ${covering[1]}`;
    const position = positionOf(this.#subnet, prefix.base);
    const isGiven = position >= 1 && position <= segment + 1;
    return isGiven ? `the tunnel address of ${this.#segments[position - 1]?.name}` : undefined;
  }

  #peer(prefix: Prefix): string | undefined {
    const met = this.#peers.covering(prefix)[0] ?? this.#peers.within(prefix)[0];
    return met && `${met[0].text} of Peer ${met[1]}`;
  }
}

function entryKey(prefix: Prefix, segment: number): string {
  return `${segment} ${prefix.text}`;
}
