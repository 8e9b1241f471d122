/** The agent: wires what may call for a pass to the loop, and what a pass found to log, metrics, readiness and the own Node. */
import type { Change } from "../kube/index.ts";
import { lastSeenOf, type NodeObject, type Plan } from "../mesh/index.ts";
import { createWarnOnce, type WarnOnce } from "../telemetry/index.ts";
import { DeviceWatch } from "./device-watch.ts";
import { Health } from "./health.ts";
import { createLoop, type Loop } from "./loop.ts";
import { NodeWatch } from "./node-watch.ts";
import type { AgentOptions } from "./options.ts";
import type { AgentParts } from "./parts.ts";
import { Publisher } from "./publisher.ts";
import { type PassResult, Reconciler } from "./reconciler.ts";
import { summary } from "./summary.ts";

/** A pass in which operations failed; the loop tries it again. What failed was told already. */
class IncompletePass extends Error {
  readonly code = "incomplete";
}

export class Agent {
  readonly health = new Health();
  readonly #options: AgentOptions;
  readonly #parts: AgentParts;
  readonly #loop: Loop;
  readonly #reconciler: Reconciler;
  readonly #publisher: Publisher;
  readonly #deviceWatch: DeviceWatch;
  readonly #nodeWatch: NodeWatch;
  readonly #problems: WarnOnce;
  readonly #failures: WarnOnce;
  readonly #abort = new AbortController();
  #resync: NodeJS.Timeout | undefined;
  #unwatch: () => void = () => {};
  #published = false;
  #leads: boolean | undefined;

  constructor(options: AgentOptions, parts: AgentParts) {
    this.#options = options;
    this.#parts = parts;
    this.#reconciler = new Reconciler(options, parts);
    this.#publisher = new Publisher({
      parts,
      onDue: () => this.#loop.trigger("check-in"),
      onPublished: () => this.#wrote(),
    });
    this.#problems = createWarnOnce(parts.log.component("mesh"));
    this.#failures = createWarnOnce(parts.log.component("host"));
    this.#loop = createLoop({
      pass: (reasons, signal) => this.#pass(reasons, signal),
      onFailure: (error, retryInMs) => this.#passFailed(error, retryInMs),
    });
    this.#nodeWatch = new NodeWatch({ nodes: parts.nodes, onNews: (reason) => this.#loop.trigger(reason) });
    this.#deviceWatch = new DeviceWatch({ parts, onLearned: () => this.#loop.trigger("endpoint learned") });
  }

  /** Begins: passes run as soon as nodes and peers are complete. */
  start(): void {
    this.#unwatch = this.#parts.host.watch(({ kind }) => this.#loop.trigger(`drift of ${kind}`));
    this.#resync = setInterval(() => this.#loop.trigger("resync"), this.#options.resyncPeriod * 1000);
    this.#nodeWatch.start();
    this.#loop.start();
    this.#loop.trigger("start");
  }

  /** Ends passes and timers. The data plane and the annotations stay as they are, so that the next agent takes over without a loss. */
  async stop(): Promise<void> {
    this.#abort.abort();
    clearInterval(this.#resync);
    this.#nodeWatch.stop();
    this.#unwatch();
    await this.#loop.stop();
    await this.#deviceWatch.stop();
    await this.#publisher.stop();
  }

  /** A Node came, changed or went. */
  nodeChanged(change: Change<NodeObject>): void {
    this.#nodeWatch.changed(change);
  }

  /** Something else outside changed: a Peer, the list, a name. */
  changed(reason: string): void {
    this.#loop.trigger(reason);
  }

  /** A list or watch failed: before the first complete list, that is why this agent is not ready. */
  contactFailed(): void {
    const { nodes, peers } = this.#parts;
    if (nodes.synced && peers.synced) return;
    const error = nodes.synced ? peers.lastError : nodes.lastError;
    if (error !== undefined) this.health.fail("sync", error instanceof Error ? error.message : String(error));
  }

  async #pass(_reasons: readonly string[], signal: AbortSignal): Promise<void> {
    const { nodes, peers, metrics } = this.#parts;
    // Nothing is changed, and above all nothing removed, before the first complete list (promise 3).
    if (!nodes.synced || !peers.synced) return;
    this.health.ok("sync");
    metrics.reconciles.add(1);
    const seen = nodes.items().get(this.#options.hostname);
    if (seen === undefined) return this.#noOwnNode();
    this.health.ok("node");
    this.#publisher.resume(lastSeenOf(seen));
    const { heardAt, gap, checkIns } = this.#nodeWatch.look(lastSeenOf(seen));
    const result = await this.#reconciler.pass(
      {
        ownNode: this.#publisher.overlay(seen, heardAt),
        heardAt: Math.floor(heardAt / 1000),
        gap,
        checkIns,
        found: (host) => this.#nodeWatch.found(host),
      },
      signal,
    );
    this.#tell(result);
    if (result.changes?.mesh?.create) this.#deviceWatch.callAgain();
    if (result.moved) this.#deviceWatch.moved();
    this.#publisher.offer(result.patch);
    this.#deviceWatch.planned(result.plan.state.mesh?.device);
    if (result.failures.length > 0) throw new IncompletePass(result.failures.join("; "));
  }

  #noOwnNode(): void {
    const { hostname } = this.#options;
    const reason = `there is no Node object "${hostname}"; is --hostname the name of this host's Node?`;
    this.health.fail("node", reason);
    this.#problems.raise({ key: "own-node", message: "own Node is missing", context: { reason } });
  }

  #tell({ plan, failures, changes }: PassResult): void {
    const { metrics, log } = this.#parts;
    metrics.leader.set(plan.leader ? 1 : 0);
    metrics.nodes.set(plan.counts.nodes);
    metrics.peers.set(plan.counts.peers);
    if (plan.leader !== this.#leads) log.info(plan.leader ? "leads its segment" : "leads no segment");
    this.#leads = plan.leader;
    if (changes !== undefined) {
      metrics.applies.add(1);
      log.info("changed the host", summary(changes));
    }
    metrics.errors.add(failures.length, { event: "apply" });
    this.#tellProblems(plan);
    this.#failures.replace(
      failures.map((message) => ({ key: message, message: "cannot apply", context: { message } })),
    );
    if (failures.length === 0) this.health.ok("apply");
    else this.health.fail("apply", failures.join("; "));
    if (plan.ready) this.health.ok("device");
    else
      this.health.fail(
        "device",
        `this node takes no part in the mesh: ${ownReasons(plan, this.#options.hostname)}`,
      );
  }

  #tellProblems({ problems }: Plan): void {
    const { metrics } = this.#parts;
    const byReason = new Map<string, number>();
    for (const { reason } of problems) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
    metrics.problems.clear();
    for (const [reason, count] of byReason) metrics.problems.set(count, { reason });
    this.#problems.replace(
      problems.map(({ object, reason, message }) => ({
        key: `${object.kind}/${object.name}/${reason}`,
        message: reason,
        context: { object: `${object.kind}/${object.name}`, message },
      })),
    );
  }

  /** Others know us only from now on, so that calls made before were in vain. */
  #wrote(): void {
    if (!this.#published) this.#deviceWatch.callAgain();
    this.#published = true;
  }

  #passFailed(error: unknown, retryInMs: number): void {
    if (error instanceof IncompletePass) return;
    this.#parts.metrics.errors.add(1, { event: "run" });
    this.health.fail("apply", error instanceof Error ? error.message : String(error));
    this.#parts.log.error("pass failed", { error, retryInMs });
  }
}

function ownReasons(plan: Plan, hostname: string): string {
  const own = plan.problems.filter(({ object }) => object.name === hostname || object.kind === "Host");
  return own.map(({ message }) => message).join("; ") || "no reason is known";
}
