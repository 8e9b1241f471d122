/**
 * What this host has to reach outside the mesh, whatever a Peer or a location claims: the far ends of its leader's tunnels, the API server, and
 * its own links. A route over one of them would lead every tunnel's packets into one tunnel, or take the way by which the agent hears that
 * the claim is gone again. The far ends count on followers too: what the leader refuses must not be sent to it.
 */
import {
  type Address,
  containsAddress,
  createPrefixIndex,
  hostPrefix,
  networkOf,
  overlaps,
  type Prefix,
  type PrefixIndex,
} from "../../ip/index.ts";
import type { Mode } from "../facts/mode.ts";
import type { OwnHost } from "../options.ts";
import type { Topology } from "../topology/topology.ts";
import { tunnelledSegments } from "../topology/tunnels.ts";

/** An address that has to stay outside, and what it is. */
interface Needed {
  readonly address: Address;
  readonly what: string;
}

export class Underlay {
  readonly #mode: Mode;
  /** The far ends and the API server. */
  readonly #needed: PrefixIndex<Needed>;
  readonly #apiServer: PrefixIndex<Needed>;
  readonly #servers: readonly Prefix[];
  readonly #links: readonly Prefix[];
  readonly #connected: readonly Prefix[];

  constructor(topology: Topology, { apiServer = [], connected = [] }: OwnHost) {
    this.#mode = topology.mode;
    const servers = apiServer.map((address) => ({ address, what: "the API server" }));
    this.#needed = indexOf([...farEnds(topology), ...servers]);
    this.#apiServer = indexOf(servers);
    this.#servers = apiServer.map(hostPrefix);
    this.#links = connected;
    const tunnelAddress = topology.leader ? topology.wireguardIP : undefined;
    this.#connected = tunnelAddress === undefined ? connected : [...connected, networkOf(tunnelAddress)];
  }

  /**
   * What speaks against a route for a Peer's prefix, in words; undefined: nothing. The longer prefix of a link keeps its addresses; the
   * place of an equal one is taken by the kernel's own route.
   */
  objectionTo(prefix: Prefix): string | undefined {
    if (this.#connected.some(({ text }) => text === prefix.text)) return "a link of this host has it";
    return this.#neededIn(prefix, this.#needed);
  }

  /** The same for an allowed-location-ip. In a mixed mesh Kilo's agents route them all, so that only the API server's address counts. */
  objectionToLocationIP(prefix: Prefix): string | undefined {
    return this.#mode === "kilo" ? this.#neededIn(prefix, this.#apiServer) : this.objectionTo(prefix);
  }

  /**
   * Whether this host itself may have its way through a prefix: the API server lies in it, or a network in which a link of this host is.
   * By what stands on this host, never by what annotations say. The mesh link is none of these links.
   */
  holdsOwnNetwork(prefix: Prefix): boolean {
    return [...this.#servers, ...this.#links].some((own) => overlaps(own, prefix));
  }

  /** What is reached by a link of this host, and the API server. */
  get local(): readonly Prefix[] {
    return [...this.#links, ...this.#servers];
  }

  #neededIn(prefix: Prefix, needed: PrefixIndex<Needed>): string | undefined {
    const inside = needed.within(prefix).map(([, value]) => value);
    const taken = inside.find(({ address }) => !this.#isConnected(address, prefix.length));
    return taken && `${taken.what}, ${taken.address.text}, lies in it`;
  }

  #isConnected(address: Address, length: number): boolean {
    return this.#connected.some((prefix) => prefix.length > length && containsAddress(prefix, address));
  }
}

function indexOf(needed: readonly Needed[]): PrefixIndex<Needed> {
  return createPrefixIndex(needed.map((entry) => [hostPrefix(entry.address), entry] as const));
}

function farEnds(topology: Topology): Needed[] {
  const tunnels = [
    ...tunnelledSegments(topology).map(({ endpoint, leader }) => ({ endpoint, name: `Node ${leader.name}` })),
    ...topology.peers.map(({ endpoint, name }) => ({ endpoint, name: `Peer ${name}` })),
  ];
  return tunnels.flatMap(({ endpoint, name }) => {
    return endpoint === undefined ? [] : [{ address: endpoint.address, what: `the endpoint of ${name}` }];
  });
}
