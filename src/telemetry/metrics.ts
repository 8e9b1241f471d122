/** Metrics: counters, gauges and histograms with labels, as Prometheus reads them. */
import { renderFamily, type Sample } from "./exposition.ts";
import { type LabelValues, SeriesMap } from "./series.ts";

/** Seconds: from one call of the kernel to a first convergence of a large mesh. */
const DEFAULT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** A metric that cannot be: a fault of the program, found when it starts. */
export class MetricError extends Error {
  readonly code = "metric";
}

/** Only grows. */
export interface Counter<Label extends string = never> {
  /** @param by 0 or more; what is less, or no number, is not counted */
  add(by: number, ...labels: LabelValues<Label>): void;
}

/** Goes up and down. */
export interface Gauge<Label extends string = never> {
  set(value: number, ...labels: LabelValues<Label>): void;
  /** Forgets every label set, before they are set anew. */
  clear(): void;
}

/** Counts values by size. */
export interface Histogram<Label extends string = never> {
  observe(value: number, ...labels: LabelValues<Label>): void;
}

export interface MetricOptions<Label extends string> {
  /** In Prometheus' style, with its unit: `kilo_reconcile_duration_seconds`. */
  readonly name: string;
  readonly help: string;
  /** @default none */
  readonly labels?: readonly Label[] | undefined;
  /** Most label sets; what comes after is counted together, with every label `other`. @default 500 */
  readonly maxSeries?: number | undefined;
}

export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Upper bounds, ascending, without infinity. @default 0.001 to 10 */
  readonly buckets?: readonly number[] | undefined;
}

/**
 * All metrics of a program. A metric without labels is there from the start with 0; one with labels has a series from its first use on.
 * Making a metric twice, or with a name, label or bucket that cannot be, throws a `MetricError`; using one never throws.
 */
export interface Registry {
  counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label>;
  gauge<Label extends string = never>(options: MetricOptions<Label>): Gauge<Label>;
  histogram<Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label>;
  /** Calls `update` before each rendering, to set gauges to what is true now. If it throws, its gauges stay as they were. */
  beforeRender(update: () => void): void;
  /** Everything in Prometheus' text format 0.0.4, in the order in which it was made. */
  render(): string;
}

/** Makes an empty registry. */
export function createRegistry(): Registry {
  return new MetricRegistry();
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: () => Sample[];
}

class MetricRegistry implements Registry {
  readonly #families = new Map<string, Family>();
  readonly #updates: (() => void)[] = [];

  counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label> {
    const series = new SeriesMap(options, () => ({ value: 0 }));
    this.#register("counter", options, () => series.samples(singleValue));
    return {
      add(by, ...labels) {
        if (by >= 0) series.of(labels).value += by;
      },
    };
  }

  gauge<Label extends string = never>(options: MetricOptions<Label>): Gauge<Label> {
    const series = new SeriesMap(options, () => ({ value: 0 }));
    this.#register("gauge", options, () => series.samples(singleValue));
    return {
      set(value, ...labels) {
        series.of(labels).value = value;
      },
      clear() {
        series.clear();
      },
    };
  }

  histogram<Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label> {
    const bounds = [...(options.buckets ?? DEFAULT_BUCKETS)];
    checkBuckets(options, bounds);
    const series = new SeriesMap(options, () => ({
      sum: 0,
      counts: new Array<number>(bounds.length + 1).fill(0),
    }));
    this.#register("histogram", options, () => series.samples((of) => bucketValues(bounds, of)));
    return {
      observe(value, ...labels) {
        if (Number.isNaN(value)) return;
        const { counts } = series.of(labels);
        const at = bounds.findIndex((bound) => value <= bound);
        const bucket = at < 0 ? bounds.length : at;
        counts[bucket] = (counts[bucket] ?? 0) + 1;
        series.of(labels).sum += value;
      },
    };
  }

  beforeRender(update: () => void): void {
    this.#updates.push(update);
  }

  render(): string {
    for (const update of this.#updates) {
      try {
        update();
      } catch {
        // The values stay as they were; one that cannot be read must not hide the others.
      }
    }
    return [...this.#families.values()]
      .map(({ name, help, type, samples }) => renderFamily(name, help, type, samples()))
      .join("");
  }

  #register(type: Family["type"], options: MetricOptions<string>, samples: () => Sample[]): void {
    const { name, help, labels = [] } = options;
    if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name))
      throw new MetricError(`cannot make a metric: bad name (${name})`);
    if (this.#families.has(name)) throw new MetricError(`cannot make a metric: it exists (${name})`);
    for (const label of labels) {
      const reserved = label.startsWith("__") || (type === "histogram" && label === "le");
      if (reserved || !/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label)) {
        throw new MetricError(`cannot make the metric ${name}: bad label (${label})`);
      }
    }
    this.#families.set(name, { name, help, type, samples });
  }
}

function singleValue({ value }: { readonly value: number }): Sample[] {
  return [{ suffix: "", labels: [], value }];
}

function bucketValues(
  bounds: readonly number[],
  { sum, counts }: { readonly sum: number; readonly counts: readonly number[] },
): Sample[] {
  let total = 0;
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, i): Sample => {
    total += counts[i] ?? 0;
    return { suffix: "_bucket", labels: [["le", bound]], value: total };
  });
  return [
    ...buckets,
    { suffix: "_sum", labels: [], value: sum },
    { suffix: "_count", labels: [], value: total },
  ];
}

function checkBuckets(options: MetricOptions<string>, bounds: readonly number[]): void {
  const ascending = bounds.every(
    (bound, i) => Number.isFinite(bound) && bound > (bounds[i - 1] ?? Number.NEGATIVE_INFINITY),
  );
  if (!ascending || bounds.length === 0) {
    throw new MetricError(
      `cannot make the metric ${options.name}: buckets do not ascend (${bounds.join(", ")})`,
    );
  }
}
