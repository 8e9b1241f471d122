/**
 * telemetry: what the program says of itself: a log of JSON lines, problems told once, and metrics for Prometheus.
 *
 * Promises: logging and counting never throw and never wait, whatever is handed to them and whatever the output does; no secret and
 * no raw bytes are ever shown; lines, remembered problems and label sets are bounded. It decides nothing: names of metrics and
 * messages belong to those who use it.
 */
export * from "./log.ts";
export * from "./metrics.ts";
export * from "./process-metrics.ts";
export * from "./warn-once.ts";
