/**
 * The metrics of all workers on one page. Counts of requests are added up; metrics of a process have the label `worker`. The
 * last known counts of exited workers stay in the sums, because Prometheus would interpret a lower sum as a restart and
 * count the next rise from zero.
 */
import { Registry } from '@prometheus-io/client';
import type { MetricsPage } from '../metrics/admin-listener.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { Health } from './health.ts';
import { collectInstance } from '../metrics/instance-metrics.ts';
import { collectDatabase } from '../metrics/database-metrics.ts';
import { addCounter, addGauge } from '../metrics/metric-kinds.ts';
import type { MetricDescription, MetricsSnapshot } from '../metrics/metrics.ts';
import { collectProcessMetrics } from '../metrics/process-metrics.ts';
import type { WorkerPool } from './worker-pool.ts';

export class WorkerPoolMetrics implements MetricsPage {
  readonly contentType: string;
  readonly #pool: WorkerPool;
  /** Metrics of the supervisor. */
  readonly #own = new Registry();
  /** The last snapshot of each worker, by the id of its process. */
  readonly #last = new Map<number, MetricsSnapshot>();
  /** The sums of exited workers. */
  #exited: MetricsSnapshot = [];

  constructor(pool: WorkerPool, db: Db, health: Pick<Health, 'check'>) {
    this.#pool = pool;
    this.contentType = this.#own.contentType;
    collectProcessMetrics(this.#own, { worker: 'supervisor' });
    collectInstance(this.#own, db.dialect, health);
    collectDatabase(this.#own, db);
    addGauge(this.#own, {
      name: 'keyreeve_workers_configured',
      help: 'Configured workers',
      read: () => [{ value: pool.configured }],
    });
    addGauge(this.#own, {
      name: 'keyreeve_workers_listening',
      help: 'Workers that accept connections',
      read: () => [{ value: pool.listening }],
    });
    addCounter(this.#own, {
      name: 'keyreeve_workers_replaced_total',
      help: 'Replaced workers',
      read: () => [{ value: pool.replaced }],
    });
  }

  /** Reads no values. Without those of the workers. */
  get descriptions(): MetricDescription[] {
    return this.#own.getMetricsAsArray();
  }

  readonly text = async (): Promise<string> => {
    const [snapshots, own] = await Promise.all([this.#pool.snapshots(), this.#own.getMetricsAsJSON()]);
    for (const [id, snapshot] of this.#last) {
      if (snapshots.has(id)) continue;
      this.#last.delete(id);
      const sums = Registry.aggregate([this.#exited, sumsOf(snapshot)]);
      this.#exited = await sums.getMetricsAsJSON();
    }
    for (const [id, snapshot] of snapshots) if (snapshot) this.#last.set(id, snapshot);
    return Registry.aggregate([own, this.#exited, ...this.#last.values()]).metrics();
  };
}

/** The counts that outlive the process: not gauges, and not metrics of that process alone. */
function sumsOf(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot
    .filter(({ type }) => type !== 'gauge')
    .map((metric) => ({ ...metric, values: metric.values.filter(({ labels }) => !('worker' in labels)) }))
    .filter(({ values }) => values.length > 0);
}
