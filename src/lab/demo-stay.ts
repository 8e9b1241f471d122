/** The demo while it stays up: what people break in it is looked after as a cluster does it, and shown. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiObject } from "./cluster-objects.ts";
import type { Daemon } from "./daemon.ts";
import { DEMO_KG_FLAGS, DEMO_SUBNET } from "./demo-scenario.ts";
import { stoppedAgentText } from "./demo-text.ts";
import type { LabHost } from "./host.ts";
import { keepPeersConnected } from "./keep-peers.ts";
import type { Lab } from "./lab.ts";
import { lastWords } from "./last-words.ts";
import { drawPicture } from "./picture.ts";
import { pictureOf } from "./picture-of-objects.ts";

export interface StayOptions {
  readonly print: (text: string) => void;
  /** Columns of the terminal. */
  readonly width: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

interface KeeperOptions extends StayOptions {
  /** Resolves when the signal is aborted. */
  readonly over: Promise<undefined>;
}

/** Milliseconds until what has ended is started again, as a kubelet would after its first back-off. */
const RESTART_DELAY = 1000;

/** Milliseconds that the delay may grow to while an agent ends again and again: a line now and then, not a full screen. */
const LONGEST_DELAY = 30_000;

/** Milliseconds after which an agent counts as having run well, and the delay starts at the beginning. */
const RAN_WELL = 60_000;

/** Milliseconds that a topology has to stay as it is before it is drawn: agents follow a change one after the other. */
const SETTLED = 1500;

/** Statuses of an agent that was asked to end: in order, or by SIGINT or SIGTERM before it could do so in order. */
const ASKED_TO_END = [0, 130, 143];

/** Status after SIGKILL. */
const KILLED = 137;

/** Milliseconds between renewals of the nodes' leases: a kubelet's. */
const LEASE_RENEWAL = 10_000;

/** Stays until the signal; resolves to undefined then, or earlier to a text that says why the demo cannot go on. */
export async function stayUp(lab: Lab, options: StayOptions): Promise<string | undefined> {
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  const own = { ...options, signal, over: untilAborted(signal) };
  const picture = new Redrawing(options, (await lab.controlPlane.objects()).items);
  const keepers = [
    ...lab.nodes.map((node) => keepNode(node, own)),
    ...lab.peers.map((host) => keepPeerHost(host, own)),
    keepPeersConnected(lab, {
      signal,
      topologyFlags: DEMO_KG_FLAGS,
      onCurrent: (items) => picture.see(items),
      onError: (error) => options.print(`a peer could not follow the change: ${messageOf(error)}`),
    }),
    renewLeases(lab, signal),
  ];
  const trouble = await Promise.race([untilAborted(options.signal), whatCannotBeMended(lab)]);
  broken.abort();
  picture.stop();
  await Promise.allSettled(keepers);
  return trouble;
}

/** Resolves to what has ended that the lab cannot start again. */
async function whatCannotBeMended(lab: Lab): Promise<string> {
  const routers = lab.underlay.blueprint.namespaces.filter((plan) => plan.kind !== "host");
  const server = lab.controlPlane.ended.then(
    () => "The API server has ended, and with it its objects, which were in memory: the demo ends.",
  );
  const ends = routers.map((plan) =>
    lab.underlay.namespace(plan.name).ended.then(() => `The router ${plan.name} has ended: the demo ends.`),
  );
  return Promise.race([server, ...ends]);
}

/** A node that goes down is started again; so is an agent that crashes, but not one that was asked to end. */
async function keepNode(node: LabHost, { print, signal, over }: KeeperOptions): Promise<void> {
  let delay = RESTART_DELAY;
  let stopped: Daemon | undefined;
  while (!signal.aborted) {
    const kg = node.kg;
    // Not by whether it runs: it may have been killed before anybody looked.
    const agent = kg === undefined || kg === stopped ? [] : [kg.ended];
    await Promise.race([over, node.down, ...agent]);
    await pause(delay, signal);
    if (signal.aborted) return;
    try {
      if (!node.alive) await restartHost(node, print);
      else if (kg !== undefined && ASKED_TO_END.includes(await kg.ended)) {
        stopped = kg;
        await node.stopKg();
        print(stoppedAgentText(node));
      } else if (kg !== undefined) delay = await restartAgent(node, kg, delay, print);
    } catch (error) {
      if (!signal.aborted) print(`${node.name} could not be mended: ${messageOf(error)}`);
      delay = Math.min(delay * 2, LONGEST_DELAY);
    }
  }
}

/** Gives the delay before the next restart. */
async function restartAgent(
  node: LabHost,
  kg: Daemon,
  delay: number,
  print: (text: string) => void,
): Promise<number> {
  const status = await kg.ended;
  const killed = status === KILLED;
  print(
    killed
      ? `kg on ${node.name} was killed; starting it again`
      : `kg on ${node.name} has ended with status ${status}; starting it again\n${lastWords(node)}`,
  );
  await node.startKg();
  return Date.now() - kg.startedAt > RAN_WELL || killed ? RESTART_DELAY : Math.min(delay * 2, LONGEST_DELAY);
}

async function keepPeerHost(host: LabHost, { print, signal, over }: KeeperOptions): Promise<void> {
  while (!signal.aborted) {
    await Promise.race([over, host.down]);
    await pause(RESTART_DELAY, signal);
    if (signal.aborted) return;
    await restartHost(host, print).catch((error: unknown) => {
      if (!signal.aborted) print(`${host.name} could not be mended: ${messageOf(error)}`);
    });
  }
}

async function restartHost(host: LabHost, print: (text: string) => void): Promise<void> {
  print(`${host.name} has lost power (its first process has ended); starting it again`);
  await host.reboot();
  print(`${host.name} is up again; its processes have new numbers, and its first one is ${host.site.pid}`);
}

async function renewLeases(lab: Lab, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(LEASE_RENEWAL, signal);
    const alive = lab.nodes.filter((node) => node.alive).map((node) => node.name);
    // Without an answer nothing is renewed, as in a cluster.
    if (!signal.aborted) await lab.controlPlane.renewLeases(alive).catch(() => undefined);
  }
}

/** The picture, drawn again whenever another topology has settled. */
class Redrawing {
  readonly #options: StayOptions;
  #drawn: string;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StayOptions, items: readonly ApiObject[]) {
    this.#options = options;
    this.#drawn = this.#draw(items);
  }

  see(items: readonly ApiObject[]): void {
    const picture = this.#draw(items);
    clearTimeout(this.#timer);
    if (picture === this.#drawn) return;
    this.#timer = setTimeout(() => {
      this.#drawn = picture;
      this.#options.print(`\n${picture}\n`);
    }, SETTLED);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #draw(items: readonly ApiObject[]): string {
    return drawPicture(pictureOf(items, DEMO_SUBNET), this.#options.width);
  }
}

async function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
