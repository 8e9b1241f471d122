/** The label sets of one metric, bounded in number. */
import type { Sample } from "./exposition.ts";

/**
 * Most label sets of one metric, unless it says otherwise: a metric by peer of a large location fits, a fault that makes a label of
 * every address does not fill the memory.
 */
const MOST_SERIES = 500;

/** The values of a metric's labels, all of them; nothing for a metric without labels. */
export type LabelValues<Label extends string> = [Label] extends [never]
  ? []
  : [labels: Readonly<Record<Label, string>>];

export interface SeriesOptions<Label extends string> {
  readonly labels?: readonly Label[] | undefined;
  readonly maxSeries?: number | undefined;
}

/** One value for each label set. A label set that comes when there are too many already shares the one where every label is `other`. */
export class SeriesMap<Label extends string, Value> {
  readonly #labels: readonly Label[];
  readonly #most: number;
  readonly #create: () => Value;
  readonly #series = new Map<
    string,
    { readonly labels: readonly [string, string][]; readonly value: Value }
  >();

  constructor(options: SeriesOptions<Label>, create: () => Value) {
    this.#labels = options.labels ?? [];
    this.#most = options.maxSeries ?? MOST_SERIES;
    this.#create = create;
    if (this.#labels.length === 0) this.#get([]);
  }

  /** The value of a label set, made when it is new. */
  of([labels]: LabelValues<Label>): Value {
    const values: Readonly<Partial<Record<string, string>>> = labels ?? {};
    return this.#get(this.#labels.map((label) => values[label] ?? ""));
  }

  /** The samples that `split` makes of each value, with the labels of its set before their own. */
  samples(split: (value: Value) => Sample[]): Sample[] {
    return [...this.#series.values()].flatMap(({ labels, value }) =>
      split(value).map((sample) => ({ ...sample, labels: [...labels, ...sample.labels] })),
    );
  }

  clear(): void {
    this.#series.clear();
  }

  #get(values: readonly string[]): Value {
    const key = JSON.stringify(values);
    const known = this.#series.get(key);
    if (known !== undefined) return known.value;
    const full = this.#series.size >= this.#most;
    const others = values.map(() => "other");
    if (full && key !== JSON.stringify(others)) return this.#get(others);
    const labels = this.#labels.map((label, i): [string, string] => [label, values[i] ?? ""]);
    const value = this.#create();
    this.#series.set(key, { labels, value });
    return value;
  }
}
