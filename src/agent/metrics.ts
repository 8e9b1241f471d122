/** What the agent counts: Kilo's metrics by their names (kilo.md §1.4), and ours. */
import {
  addProcessMetrics,
  type Counter,
  createRegistry,
  type Gauge,
  type Registry,
} from "../telemetry/index.ts";

export interface AgentMetrics {
  readonly registry: Registry;
  /** By where they arose: `run`, `apply`, `local` and `checkin`, Kilo's words. */
  readonly errors: Counter<"event">;
  readonly leader: Gauge;
  readonly nodes: Gauge;
  readonly peers: Gauge;
  readonly reconciles: Counter;
  /** Problems of objects now, by reason. */
  readonly problems: Gauge<"reason">;
  /** Passes that changed something on the host. */
  readonly applies: Counter;
  /** Writes to the API server: `checkin` every 30 s, `publish` when an annotation differs. */
  readonly writes: Counter<"kind">;
  /** Foreign firewall rules that drop forwarded packets. */
  readonly foreignDrops: Gauge;
  /** Peers that should talk and have no fresh handshake. */
  readonly silentPeers: Gauge;
}

/** Makes them all, with the metrics of the process. */
export function createAgentMetrics(): AgentMetrics {
  const registry = createRegistry();
  const metrics: AgentMetrics = {
    registry,
    errors: registry.counter({
      name: "kilo_errors_total",
      help: "Errors that occurred while administering the mesh.",
      labels: ["event"],
    }),
    leader: registry.gauge({ name: "kilo_leader", help: "1 if this node leads its segment, else 0." }),
    nodes: registry.gauge({ name: "kilo_nodes", help: "Nodes of the mesh at the last pass." }),
    peers: registry.gauge({ name: "kilo_peers", help: "External peers of the mesh at the last pass." }),
    reconciles: registry.counter({ name: "kilo_reconciles_total", help: "Passes of the loop." }),
    problems: registry.gauge({
      name: "kilomesh_problems",
      help: "Problems of Node and Peer objects at the last pass, by reason.",
      labels: ["reason"],
    }),
    applies: registry.counter({
      name: "kilomesh_applies_total",
      help: "Passes that changed something on this host.",
    }),
    writes: registry.counter({
      name: "kilomesh_api_writes_total",
      help: "Writes to the API server.",
      labels: ["kind"],
    }),
    foreignDrops: registry.gauge({
      name: "kilomesh_foreign_forward_drops",
      help: "Firewall rules or policies of others that drop forwarded packets.",
    }),
    silentPeers: registry.gauge({
      name: "kilomesh_silent_peers",
      help: "WireGuard peers that should talk and have no fresh handshake.",
    }),
  };
  addProcessMetrics(registry);
  return metrics;
}
