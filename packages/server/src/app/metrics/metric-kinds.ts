/** Metrics whose values are read at each scrape. The library's own counters would cost time in every request. */
import { Counter, Gauge, type Histogram, type Registry } from '@prometheus-io/client';
import type { LatencyHistogram } from '../../foundation/latency-histogram.ts';

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

interface Description<Read> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: () => Read;
}

export interface GaugeDescription extends Description<Iterable<Sample> | Promise<Iterable<Sample>>> {}

export interface HistogramSample {
  readonly labels: Labels;
  readonly durations: LatencyHistogram;
}

export function addCounter(
  registry: Registry,
  { name, help, labelNames = [], read }: Description<Iterable<Sample>>,
): void {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels = {}, value } of read()) this.inc(labels, value);
    },
  });
}

export function addGauge(registry: Registry, { name, help, labelNames = [], read }: GaugeDescription): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const samples = await read();
      this.reset();
      for (const { labels = {}, value } of samples) this.set(labels, value);
      // The library sets a gauge without labels to 0.
      if (labelNames.length === 0 && [...samples].length === 0) this.remove();
    },
  });
}

/** Durations in seconds. */
export function addHistogram(
  registry: Registry,
  { name, help, read }: Omit<Description<Iterable<HistogramSample>>, 'labelNames'>,
): void {
  const aggregator = 'sum';
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator,
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator,
      values: [...read()].flatMap((it) => series(name, it)),
    }),
  };
  // The registry needs only these members. The library's own histogram has buckets that it fills itself.
  registry.registerMetric(metric as unknown as Histogram<string>);
}

/** The cumulative buckets of the text format, the sum and the count. */
function series(name: string, { labels, durations: { boundsMs, counts, sumMs } }: HistogramSample) {
  let count = 0;
  const buckets = counts.map((added, bucket) => {
    const boundMs = boundsMs[bucket];
    const le = boundMs === undefined ? '+Inf' : String(boundMs / 1000);
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: (count += added) };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumMs / 1000 },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Samples with one label, such as counts by result. */
export const by = (label: string, counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));
