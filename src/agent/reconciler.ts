/**
 * One pass: what the cluster says and what the host has become a plan, the plan becomes the fewest changes, and these are applied.
 * Everything is looked at anew in each pass, so a pass that was lost, or that failed half-way, needs no memory to be made good.
 */
import { type Address, networkOf, parseAddress } from "../ip/index.ts";
import type { HostFacts } from "../linux/index.ts";
import {
  ANNOTATIONS,
  type AnnotationPatch,
  annotationsOf,
  type DiscoveredAddresses,
  diffHost,
  discoverAddresses,
  type HostChanges,
  type HostState,
  isEmptyChange,
  type NodeObject,
  type Plan,
  type PlanInput,
  planAgent,
  withoutRemovals,
} from "../mesh/index.ts";
import { type DeviceStatus, parseEndpoint } from "../wireguard/index.ts";
import { LearnedEndpoints } from "./learned.ts";
import { meshMtu } from "./mtu.ts";
import type { AgentOptions } from "./options.ts";
import type { AgentParts } from "./parts.ts";

/** What a pass came to. */
export interface PassResult {
  readonly plan: Plan;
  /** What the own Node has to say beyond what it says; undefined when nothing. */
  readonly patch: AnnotationPatch | undefined;
  /** Operations that could not be done, one message each. */
  readonly failures: readonly string[];
  /** What was applied; undefined when there was nothing to do, or nothing of it could be done. */
  readonly changes: HostChanges | undefined;
  /** This host is reached at another address than at the pass before. */
  readonly moved: boolean;
}

/** How this pass sees the cluster. */
export interface View {
  /** The own Node, with our own writes on top. */
  readonly ownNode: NodeObject;
  /** Unix seconds at which the API server was last heard. */
  readonly heardAt: number;
  readonly gap: PlanInput["gap"];
  readonly checkIns: PlanInput["checkIns"];
  /** Is told what the host has, before the plan is made. */
  readonly found: (host: HostState) => void;
}

export class Reconciler {
  readonly #options: AgentOptions;
  readonly #parts: AgentParts;
  /** The plan whose device was applied last: tells a changed endpoint from one that WireGuard learned. */
  #applied: HostState | undefined;
  readonly #learned = new LearnedEndpoints();
  /** Where this host was reached at the last pass. */
  #address: Address | undefined;

  constructor(options: AgentOptions, parts: AgentParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async pass(view: View, signal: AbortSignal): Promise<PassResult> {
    const { host } = this.#parts;
    const now = Math.floor(Date.now() / 1000);
    const facts = await host.facts();
    const discovered = this.#discover(view.ownNode, facts);
    host.setPrivateLink(discovered.privateLink);
    const actual = await host.read();
    view.found(actual);
    this.#learned.saw(deviceOf(actual), now);
    const { publicKey, version } = this.#parts;
    const { plan, patch } = planAgent(this.#input(view, facts, now), {
      publicKey,
      version,
      discovered,
    });
    if (plan.state.mesh !== undefined) this.#learned.retain(plan.state.mesh.device);
    const difference = diffHost(plan.state, actual, { now, previous: this.#applied });
    const changes = plan.ready ? difference : withoutRemovals(difference, actual);
    const before = host.mutations;
    const failures = isEmptyChange(changes) ? [] : await host.apply(changes, signal);
    // A try of which nothing succeeded has changed nothing: a foreign route in a place of ours is met again and again.
    const changed = !isEmptyChange(changes) && (failures.length === 0 || host.mutations > before);
    if (!failures.some(({ part }) => part === "mesh" || part === "device")) this.#applied = plan.state;
    return {
      plan,
      patch,
      failures: failures.map((failure) => failure.message),
      changes: changed ? changes : undefined,
      moved: this.#hasMoved(discovered.external),
    };
  }

  /** A host that has no address for a while and then the one it had has not moved. */
  #hasMoved(address: Address | undefined): boolean {
    if (address === undefined) return false;
    const before = this.#address;
    this.#address = address;
    return before !== undefined && before.text !== address.text;
  }

  #discover(ownNode: NodeObject, facts: HostFacts): DiscoveredAddresses {
    const annotations = annotationsOf(ownNode);
    const endpoint = parseEndpoint(annotations[ANNOTATIONS.endpoint] ?? "");
    const internalIP = annotations[ANNOTATIONS.internalIP]?.split("/")[0];
    const listed = (ownNode.status?.addresses ?? []).filter(({ type }) => type === "InternalIP");
    return discoverAddresses(
      {
        links: facts.links.filter(({ name }) => name !== this.#options.interface),
        defaultRoute: facts.defaultRoute,
        hostnameAddresses: this.#parts.hostnameAddresses,
        nodeInternalIPs: listed
          .map(({ address }) => parseAddress(address))
          .filter((address) => address !== undefined),
        announced: {
          endpoint: endpoint?.kind === "address" ? endpoint.address : undefined,
          internalIP: parseAddress(internalIP ?? ""),
        },
      },
      this.#options,
    );
  }

  #input(view: View, facts: HostFacts, now: number): PlanInput {
    const { nodes, peers, publicKey, privateKey, resolve } = this.#parts;
    const { hostname } = this.#options;
    return {
      hostname,
      now,
      nodes: [...nodes.items().values()].map((node) =>
        node.metadata.name === hostname ? view.ownNode : node,
      ),
      peers: [...peers.items().values()],
      options: this.#options.mesh,
      own: {
        publicKey,
        privateKey,
        mtu: meshMtu(facts, this.#options.mtu, this.#options.interface),
        learned: this.#learned.list(),
        addresses: facts.links.flatMap((link) => link.addresses.map(({ address }) => address)),
        connected: facts.links
          .filter(({ name }) => name !== this.#options.interface)
          .flatMap(({ addresses }) => addresses.map(networkOf)),
        apiServer: this.#parts.apiServer(),
      },
      gap: view.gap,
      checkIns: view.checkIns,
      heardAt: view.heardAt,
      resolve,
    };
  }
}

/** What was read of a device has the handshakes of its peers. */
function deviceOf(state: HostState): DeviceStatus | undefined {
  const device = state.mesh?.device;
  if (device === undefined) return undefined;
  return isStatus(device) ? device : undefined;
}

function isStatus(device: NonNullable<HostState["mesh"]>["device"]): device is DeviceStatus {
  return device.peers.every((peer) => "latestHandshake" in peer);
}
