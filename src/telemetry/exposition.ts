/** Prometheus' text format, version 0.0.4 (its documentation, "Exposition formats"); served as `text/plain; version=0.0.4`. */

/** One line: `suffix` comes behind the metric's name. A label's value may be a number, written as sample values are. */
export interface Sample {
  readonly suffix: "" | "_bucket" | "_sum" | "_count";
  readonly labels: readonly (readonly [name: string, value: string | number])[];
  readonly value: number;
}

/** A metric with its HELP and TYPE lines. Without samples too: a scrape then still tells that it exists. */
export function renderFamily(
  name: string,
  help: string,
  type: "counter" | "gauge" | "histogram",
  samples: readonly Sample[],
): string {
  const lines = samples.map(
    ({ suffix, labels, value }) => `${name}${suffix}${renderLabels(labels)} ${renderValue(value)}`,
  );
  return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function renderLabels(labels: Sample["labels"]): string {
  if (labels.length === 0) return "";
  const pairs = labels.map(([name, value]) => {
    const text = typeof value === "number" ? renderValue(value) : escapeLabel(value);
    return `${name}="${text}"`;
  });
  return `{${pairs.join(",")}}`;
}

function renderValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
