import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRegistry, MetricError } from "./metrics.ts";
import { addProcessMetrics } from "./process-metrics.ts";

describe("the text that Prometheus reads (format 0.0.4)", () => {
  it("has HELP and TYPE, then the samples, metric by metric", () => {
    const registry = createRegistry();
    const errors = registry.counter({ name: "kilo_errors_total", help: "Errors.", labels: ["event"] });
    const leader = registry.gauge({ name: "kilo_leader", help: "Leader (1) or not (0)." });
    errors.add(1, { event: "apply" });
    errors.add(2, { event: "apply" });
    errors.add(1, { event: "checkin" });
    leader.set(1);
    assert.equal(
      registry.render(),
      `# HELP kilo_errors_total Errors.
# TYPE kilo_errors_total counter
kilo_errors_total{event="apply"} 3
kilo_errors_total{event="checkin"} 1
# HELP kilo_leader Leader (1) or not (0).
# TYPE kilo_leader gauge
kilo_leader 1
`,
    );
  });

  it("escapes help and label values", () => {
    const registry = createRegistry();
    const gauge = registry.gauge({ name: "x", help: 'a\\b\n"c"', labels: ["l"] });
    gauge.set(1, { l: 'a\\b\n"c"' });
    assert.equal(registry.render(), '# HELP x a\\\\b\\n"c"\n# TYPE x gauge\nx{l="a\\\\b\\n\\"c\\""} 1\n');
  });

  it("writes numbers as Prometheus reads them", () => {
    const registry = createRegistry();
    const gauge = registry.gauge({ name: "x", help: "x", labels: ["l"] });
    const values = [0.5, 1e21, 1e-7, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, -3];
    for (const [i, value] of values.entries()) gauge.set(value, { l: String(i) });
    const written = registry.render().match(/(?<=^x\{.*\} ).*$/gm);
    assert.deepEqual(written, ["0.5", "1e+21", "1e-7", "+Inf", "-Inf", "NaN", "-3"]);
  });

  it("counts into cumulative buckets", () => {
    const registry = createRegistry();
    const histogram = registry.histogram({ name: "d_seconds", help: "d", labels: ["k"], buckets: [0.1, 1] });
    for (const value of [0.05, 0.1, 0.5, 2, Number.NaN]) histogram.observe(value, { k: "v" });
    assert.equal(
      registry.render(),
      `# HELP d_seconds d
# TYPE d_seconds histogram
d_seconds_bucket{k="v",le="0.1"} 2
d_seconds_bucket{k="v",le="1"} 3
d_seconds_bucket{k="v",le="+Inf"} 4
d_seconds_sum{k="v"} 2.65
d_seconds_count{k="v"} 4
`,
    );
  });
});

describe("series", () => {
  it("of a metric without labels are there from the start, of one with labels from the first use", () => {
    const registry = createRegistry();
    registry.counter({ name: "a_total", help: "a" });
    registry.counter({ name: "b_total", help: "b", labels: ["l"] });
    registry.histogram({ name: "c", help: "c", buckets: [1] });
    const samples = registry.render().match(/^[abc].*$/gm);
    assert.deepEqual(samples, [
      "a_total 0",
      'c_bucket{le="1"} 0',
      'c_bucket{le="+Inf"} 0',
      "c_sum 0",
      "c_count 0",
    ]);
  });

  it("beyond the bound share one, and nothing is lost", () => {
    const registry = createRegistry();
    const counter = registry.counter({ name: "x_total", help: "x", labels: ["a", "b"], maxSeries: 2 });
    for (let i = 0; i < 100; i++) counter.add(1, { a: String(i), b: "b" });
    counter.add(5, { a: "0", b: "b" });
    assert.deepEqual(registry.render().match(/^x_total.*$/gm), [
      'x_total{a="0",b="b"} 6',
      'x_total{a="1",b="b"} 1',
      'x_total{a="other",b="other"} 98',
    ]);
  });

  it("are bounded by 500 when nothing is said", () => {
    const registry = createRegistry();
    const gauge = registry.gauge({ name: "x", help: "x", labels: ["l"] });
    for (let i = 0; i < 5000; i++) gauge.set(1, { l: String(i) });
    assert.equal(registry.render().match(/^x\{/gm)?.length, 501);
  });

  it("do not mix label sets whose values run together", () => {
    const registry = createRegistry();
    const gauge = registry.gauge({ name: "x", help: "x", labels: ["a", "b"] });
    gauge.set(1, { a: 'p","q', b: "r" });
    gauge.set(2, { a: "p", b: 'q","r' });
    assert.equal(registry.render().match(/^x\{/gm)?.length, 2);
  });

  it("of a gauge can be forgotten", () => {
    const registry = createRegistry();
    const gauge = registry.gauge({ name: "x", help: "x", labels: ["l"] });
    gauge.set(1, { l: "old" });
    gauge.clear();
    gauge.set(1, { l: "new" });
    assert.deepEqual(registry.render().match(/^x\{.*$/gm), ['x{l="new"} 1']);
  });
});

it("a counter never goes back", () => {
  const registry = createRegistry();
  const counter = registry.counter({ name: "x_total", help: "x" });
  for (const by of [2, -1, Number.NaN, 0]) counter.add(by);
  assert.match(registry.render(), /^x_total 2$/m);
});

it("a metric that cannot be is refused when it is made", () => {
  const registry = createRegistry();
  registry.gauge({ name: "taken", help: "x" });
  const refused = [
    () => registry.counter({ name: "taken", help: "x" }),
    () => registry.counter({ name: "1x", help: "x" }),
    () => registry.counter({ name: "x-y", help: "x" }),
    () => registry.counter({ name: "", help: "x" }),
    () => registry.gauge({ name: "x", help: "x", labels: ["a-b"] }),
    () => registry.gauge({ name: "x", help: "x", labels: ["__name"] }),
    () => registry.histogram({ name: "x", help: "x", labels: ["le"] }),
    () => registry.histogram({ name: "x", help: "x", buckets: [1, 1] }),
    () => registry.histogram({ name: "x", help: "x", buckets: [1, Number.POSITIVE_INFINITY] }),
    () => registry.histogram({ name: "x", help: "x", buckets: [] }),
  ];
  for (const make of refused) assert.throws(make, MetricError);
  registry.gauge({ name: "x", help: "x" });
});

it("what is updated before a rendering is in it, and a failing update hides nothing", () => {
  const registry = createRegistry();
  const gauge = registry.gauge({ name: "x", help: "x" });
  registry.beforeRender(() => assert.fail("no"));
  registry.beforeRender(() => gauge.set(7));
  assert.match(registry.render(), /^x 7$/m);
});

it("process metrics tell of this process", () => {
  const registry = createRegistry();
  addProcessMetrics(registry);
  const first = valuesOf(registry.render());
  assert.ok((first.get("process_resident_memory_bytes") ?? 0) > 10e6);
  assert.ok((first.get("process_open_fds") ?? 0) >= 3);
  assert.ok(
    Math.abs((first.get("process_start_time_seconds") ?? 0) - Date.now() / 1000 + process.uptime()) < 2,
  );
  const { user, system } = process.cpuUsage();
  assert.ok(Math.abs((first.get("process_cpu_seconds_total") ?? 0) - (user + system) / 1e6) < 1);
  const second = valuesOf(registry.render());
  assert.ok((second.get("process_cpu_seconds_total") ?? 0) >= (first.get("process_cpu_seconds_total") ?? 0));
});

function valuesOf(text: string): Map<string, number> {
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const [name = "", value = ""] = line.split(" ");
      return [name, Number(value)];
    }),
  );
}
