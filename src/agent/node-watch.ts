/**
 * What is heard of the nodes: which news call for a pass, and how fresh the picture is. In a large mesh nearly everything that is heard is
 * a check-in, which changes nothing; and nobody tells when one does not come, so that is looked for.
 */
import type { Change } from "../kube/index.ts";
import {
  type CheckIns,
  type FreshnessView,
  type HostState,
  lastSeenOf,
  type Mode,
  meshMode,
  type NodeObject,
  type WatchGap,
} from "../mesh/index.ts";
import { countFresh, isCheckIn } from "./check-ins.ts";
import { Freshness } from "./freshness.ts";
import type { AgentParts } from "./parts.ts";
import { standingNodes } from "./standing.ts";

/** A node counts as gone after 60 s without check-in; this much later a pass notices it at the latest. A look costs microseconds. */
const LOOK_MS = 2_000;

/** How fresh the picture is, in a pass. */
export interface Heard {
  /** When the API server was last heard, in Unix milliseconds. */
  readonly heardAt: number;
  readonly gap: WatchGap | undefined;
  /** Grows and changes with what is heard after. */
  readonly checkIns: CheckIns;
}

export interface NodeWatchOptions {
  readonly nodes: AgentParts["nodes"];
  /** Something calls for a pass. */
  readonly onNews: (reason: string) => void;
}

export class NodeWatch {
  readonly #options: NodeWatchOptions;
  readonly #freshness = new Freshness();
  /** When each node was heard to check in, in Unix seconds of this host's clock (report S-13). */
  readonly #checkIns = new Map<string, number>();
  /** Found before each pass; a change of it calls for one. */
  #mode: Mode = "kilo";
  /** Nodes that were alive at the last look. */
  #fresh = 0;
  #hasFound = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#lookForSilence(), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A Node came, changed or went. */
  changed(change: Change<NodeObject>): void {
    const view = this.#view;
    this.#freshness.hear(view.at);
    if (!isCheckIn(change, view)) this.#options.onNews(`node ${change.name}`);
    this.#noteCheckIn(change);
  }

  /** Looks before a pass. @param ownLastSeen the own check-in in Unix seconds, 0 for none */
  look(ownLastSeen: number): Heard {
    const heardAt = this.#heardAt;
    this.#mode = meshMode([...this.#options.nodes.items().values()]);
    this.#fresh = this.#countFresh();
    const gap = this.#freshness.look(seconds(heardAt), ownLastSeen);
    return { heardAt, gap, checkIns: this.#checkIns };
  }

  /**
   * What the first pass finds on the host. Whoever stands there counts as heard just now: the predecessor of this agent heard it, and by
   * clocks alone all nodes whose clock is a minute behind would be dropped at each restart (report S-13). One that is dead stays 60 s longer.
   */
  found(host: HostState): void {
    if (this.#hasFound) return;
    this.#hasFound = true;
    const at = seconds(this.#heardAt);
    for (const name of standingNodes(host, this.#options.nodes.items().values())) {
      if (!this.#checkIns.has(name)) this.#checkIns.set(name, at);
    }
    this.#fresh = this.#countFresh();
  }

  #noteCheckIn(change: Change<NodeObject>): void {
    if (change.kind === "removed") this.#checkIns.delete(change.name);
    if (change.kind !== "changed" || lastSeenOf(change.previous) === lastSeenOf(change.object)) return;
    this.#checkIns.set(change.name, seconds(Date.now()));
  }

  #lookForSilence(): void {
    const fresh = this.#countFresh();
    if (fresh < this.#fresh) this.#options.onNews("a node is silent");
    this.#fresh = fresh;
  }

  #countFresh(): number {
    return countFresh(this.#options.nodes.items().values(), this.#view);
  }

  /** As the plan sees it: in a mixed mesh clocks are compared. */
  get #view(): FreshnessView {
    const checkIns = this.#mode === "kilomesh" ? this.#checkIns : undefined;
    return { at: seconds(this.#heardAt), checkIns };
  }

  get #heardAt(): number {
    return this.#options.nodes.heardAt ?? Date.now();
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
