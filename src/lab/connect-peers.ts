/** Connects the external peers of a scenario, each with what `kg plan --peer` says. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiObject } from "./cluster-objects.ts";
import { executeHere } from "./command.ts";
import { CommandError, LabError } from "./errors.ts";
import { connectPeer } from "./external-peer.ts";
import type { LabHost } from "./host.ts";
import type { Lab } from "./lab.ts";
import type { PathEnd } from "./paths.ts";

/** Milliseconds that the nodes may take to publish themselves. */
const PUBLISH_TIMEOUT = 20_000;

/** Milliseconds for endpoints to be learned and published; after that the declared ones have to do. */
const LEARN_TIMEOUT = 10_000;

/**
 * Waits until all nodes have published keys and endpoints, and connects all peers of the scenario.
 * @param topologyFlags the ones that the agents run with
 */
export async function connectPeers(
  lab: Lab,
  topologyFlags: readonly string[],
  signal?: AbortSignal,
): Promise<PathEnd[]> {
  if (lab.peers.length === 0) return [];
  await waitForPublishedNodes(lab, signal);
  const { items } = await lab.controlPlane.objects();
  return Promise.all(
    lab.peers.map(async (host) =>
      applyPeer(lab, host, await planPeer(lab, host, items, topologyFlags, signal)),
    ),
  );
}

/** The configuration that a peer needs (wg-quick(8)), as `kg plan --peer -o conf` prints it of these objects. @throws CommandError, e.g. when it is no Peer */
export async function planPeer(
  lab: Lab,
  host: LabHost,
  items: readonly ApiObject[],
  topologyFlags: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const command = [...lab.options.kg, "plan", "-f", "-", "--peer", host.name, "-o", "conf", ...topologyFlags];
  const input = JSON.stringify({ kind: "List", apiVersion: "v1", items });
  const result = await executeHere(command, { input, signal });
  if (result.status !== 0)
    throw new CommandError(`kg plan --peer ${host.name}`, result.status, result.stderr);
  return result.stdout;
}

/** Gives a peer its configuration. */
export function applyPeer(lab: Lab, host: LabHost, configuration: string): Promise<PathEnd> {
  return connectPeer(host, {
    configuration,
    privateKey: lab.controlPlane.peerKey(host.name),
    path: join(lab.state.path, `${host.name}.conf`),
    wireguard: lab.options.wireguard,
  });
}

/**
 * Waits until every node has published itself, and then a while for what others learn of nodes behind NAT: a configuration made before that
 * names an endpoint that cannot be reached from outside.
 */
async function waitForPublishedNodes(lab: Lab, signal: AbortSignal | undefined): Promise<void> {
  const started = Date.now();
  for (;;) {
    const nodes = (await lab.controlPlane.objects()).items
      .filter((object) => object.kind === "Node")
      .map((object) => ({ name: object.metadata.name, annotations: annotationsOf(object) }));
    const silent = nodes.filter(({ annotations }) => !hasPublished(annotations));
    const learned = nodes.map(({ annotations }) => annotations["discovered-endpoints"] ?? "").join(" ");
    const hidden = nodes.filter(
      ({ annotations }) => isRoaming(annotations) && !learned.includes(annotations.key ?? ""),
    );
    const waited = Date.now() - started;
    if (silent.length === 0 && (hidden.length === 0 || waited > LEARN_TIMEOUT)) return;
    if (waited > PUBLISH_TIMEOUT) {
      const names = silent.map(({ name }) => name).join(", ");
      throw new LabError(
        "timeout",
        `cannot connect peers: nodes have published no key and endpoint (${names})`,
      );
    }
    await sleep(50, undefined, { signal });
  }
}

type Annotations = Readonly<Record<string, string | undefined>>;

/** Kilo's annotations, without their prefix. */
function annotationsOf(object: ApiObject): Annotations {
  const all = Object.entries((object.metadata.annotations ?? {}) as Readonly<Record<string, string>>);
  return Object.fromEntries(all.map(([name, value]) => [name.replace("kilo.squat.ai/", ""), value]));
}

function hasPublished(annotations: Annotations): boolean {
  return ["key", "endpoint", "last-seen"].every((name) => annotations[name] !== undefined);
}

/** Whether others are to use the endpoint that they learned (kilo.md §5.8). */
function isRoaming(annotations: Annotations): boolean {
  return Number(annotations["persistent-keepalive"] ?? 0) > 0;
}
