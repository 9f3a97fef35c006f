/** Metrics of a Node process: memory, CPU time, garbage collection and event loop. */
import { collectDefaultMetrics, Gauge, type Registry } from '@prometheus-io/client';
import { EventLoopDelay } from './event-loop-delay.ts';

/**
 * Default metrics of the library that are not exported: `promtool check metrics` rejects their names, or their values are
 * impossible after a reset (NaN, 292 years).
 */
const excluded = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
];

export function collectProcessMetrics(register: Registry, labels: Readonly<Record<string, string>>): void {
  collectDefaultMetrics({ register, labels });
  for (const name of excluded) register.removeSingleMetric(name);
  const delay = new EventLoopDelay();
  new Gauge({
    name: 'keyreeve_event_loop_delay_max_seconds',
    help: 'Longest delay of the event loop since the last scrape',
    labelNames: Object.keys(labels),
    registers: [register],
    // The maximum: a mean would hide the delay of single requests.
    collect() {
      this.set(labels, delay.takeMaxMs() / 1e3);
    },
  });
}
