/** Keeps connected peers connected: the configuration of an external peer names leaders, and is out of date when another node leads. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiObject } from "./cluster-objects.ts";
import { applyPeer, planPeer } from "./connect-peers.ts";
import type { LabHost } from "./host.ts";
import type { Lab } from "./lab.ts";

/** Milliseconds between looks at the objects: short against the second or two in which a mesh follows a change. A look costs 2 ms. */
const LOOK_INTERVAL = 250;

export interface KeepPeersOptions {
  /** The ones that the agents run with. */
  readonly topologyFlags: readonly string[];
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Hears after each look that found a change, when the peers are up to date with it. @default nobody does */
  readonly onCurrent?: ((objects: readonly ApiObject[]) => void) | undefined;
  /** Hears why a peer could not follow a change; the next change is a new attempt. @default nobody does */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Keeps every peer of the scenario at what `kg plan --peer` says of the cluster as it is, until the signal. It is the person who would give the
 * laptop its new configuration. Peers that have no Peer object any more, and peers whose host is down, keep what they have.
 */
export async function keepPeersConnected(lab: Lab, options: KeepPeersOptions): Promise<void> {
  const { signal } = options;
  const applied = new Map<string, string>();
  let seen = "";
  while (!signal.aborted) {
    // No answer: the next look may have one. Whoever runs the lab watches the server itself.
    const items = (await lab.controlPlane.objects().catch(() => undefined))?.items ?? [];
    const hosts = lab.peers.filter((host) => host.alive && isPeer(items, host.name));
    const state = stateOf(items, hosts);
    if (items.length > 0 && state !== seen) {
      seen = state;
      try {
        for (const host of hosts) await follow(lab, host, items, applied, options);
        options.onCurrent?.(items);
      } catch (error) {
        if (!signal.aborted) options.onError?.(error);
      }
    }
    await sleep(LOOK_INTERVAL, undefined, { signal }).catch(() => undefined);
  }
}

/** Check-ins count as changes: by them a plan knows which nodes are alive. */
function stateOf(items: readonly ApiObject[], hosts: readonly LabHost[]): string {
  const objects = items.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
  return [...objects, ...hosts.map(bootOf)].join("\n");
}

/** A host that was started anew has lost what it was given. */
function bootOf(host: LabHost): string {
  return `${host.name} ${host.site.pid}`;
}

async function follow(
  lab: Lab,
  host: LabHost,
  items: readonly ApiObject[],
  applied: Map<string, string>,
  { topologyFlags, signal }: KeepPeersOptions,
): Promise<void> {
  const configuration = await planPeer(lab, host, items, topologyFlags, signal);
  if (applied.get(bootOf(host)) === configuration || signal.aborted) return;
  await applyPeer(lab, host, configuration);
  applied.set(bootOf(host), configuration);
}

function isPeer(objects: readonly ApiObject[], name: string): boolean {
  return objects.some((object) => object.kind === "Peer" && object.metadata.name === name);
}
