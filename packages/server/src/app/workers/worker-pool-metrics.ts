/**
 * The metrics of all workers as one page. What counts requests is added up; what tells of one process has the label
 * `worker`. The counts of workers that have died stay in the sums, as they were when last asked for: a sum that fell
 * would look like a restart to Prometheus, and the next rise like a flood.
 */
import { Counter, Gauge, Registry } from '@prometheus-io/client';
import type { MetricsPage } from '../admin-listener.ts';
import type { MetricsSnapshot } from '../metrics.ts';
import { collectProcessMetrics } from '../process-metrics.ts';
import type { WorkerPool } from './worker-pool.ts';

export class WorkerPoolMetrics implements MetricsPage {
  readonly contentType: string;
  readonly #crew: WorkerPool;
  /** The supervisor's own. */
  readonly #own = new Registry();
  /** What each process said last, by its id. */
  readonly #said = new Map<number, MetricsSnapshot>();
  #ofTheDead: MetricsSnapshot = [];

  constructor(crew: WorkerPool) {
    this.#crew = crew;
    this.contentType = this.#own.contentType;
    const registers = [this.#own];
    collectProcessMetrics(this.#own, { worker: 'supervisor' });
    new Gauge({
      name: 'keyreeve_workers_listening',
      help: 'Worker processes that answer requests',
      registers,
      collect() {
        this.set(crew.listening);
      },
    });
    new Counter({
      name: 'keyreeve_workers_replaced_total',
      help: 'Worker processes that died and were replaced',
      registers,
      collect() {
        this.reset();
        this.inc(crew.replaced);
      },
    });
  }

  readonly text = async (): Promise<string> => {
    const [snapshots, own] = await Promise.all([this.#crew.snapshots(), this.#own.getMetricsAsJSON()]);
    for (const [id, snapshot] of this.#said) {
      if (snapshots.has(id)) continue;
      this.#said.delete(id);
      const sums = Registry.aggregate([this.#ofTheDead, lastingCounts(snapshot)]);
      this.#ofTheDead = await sums.getMetricsAsJSON();
    }
    for (const [id, snapshot] of snapshots) if (snapshot) this.#said.set(id, snapshot);
    return Registry.aggregate([own, this.#ofTheDead, ...this.#said.values()]).metrics();
  };
}

/** The counts of requests in it: neither levels, which end with their process, nor what tells of that process alone. */
function lastingCounts(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot
    .filter(({ type }) => type !== 'gauge')
    .map((metric) => ({ ...metric, values: metric.values.filter(({ labels }) => !('worker' in labels)) }))
    .filter(({ values }) => values.length > 0);
}
