/**
 * What this host has to reach outside the mesh, whatever a Peer claims: the far ends of its tunnels, the API server, and its own links. A
 * Peer's route over one of them would lead every tunnel's packets into one tunnel, or take the way by which the agent hears that the Peer
 * is gone again.
 */
import { type Address, containsAddress, networkOf, type Prefix } from "../../ip/index.ts";
import type { OwnHost } from "../options.ts";
import type { Topology } from "../topology/topology.ts";
import { tunnelledSegments } from "../topology/tunnels.ts";

/** An address that has to stay outside, and what it is. */
interface Needed {
  readonly address: Address;
  readonly what: string;
}

export class Underlay {
  readonly #needed: readonly Needed[];
  readonly #connected: readonly Prefix[];

  constructor(topology: Topology, { apiServer = [], connected = [] }: OwnHost) {
    this.#needed = [
      ...(topology.leader ? farEnds(topology) : []),
      ...apiServer.map((address) => ({ address, what: "the API server" })),
    ];
    const tunnelAddress = topology.leader ? topology.wireguardIP : undefined;
    this.#connected = tunnelAddress === undefined ? connected : [...connected, networkOf(tunnelAddress)];
  }

  /**
   * What speaks against a route for this prefix, in words; undefined: nothing. The longer prefix of a link keeps its addresses; the place
   * of an equal one is taken by the kernel's own route.
   */
  objectionTo(prefix: Prefix): string | undefined {
    if (this.#connected.some(({ text }) => text === prefix.text)) return "a link of this host has it";
    const taken = this.#needed.find(({ address }) => {
      return containsAddress(prefix, address) && !this.#isConnected(address, prefix.length);
    });
    return taken && `${taken.what}, ${taken.address.text}, lies in it`;
  }

  #isConnected(address: Address, length: number): boolean {
    return this.#connected.some((prefix) => prefix.length > length && containsAddress(prefix, address));
  }
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
