/** Metrics of a Node process: memory, CPU time, garbage collection, event loop and log. */
import { collectDefaultMetrics, type Registry } from '@prometheus-io/client';
import { monotonicMs } from '../../foundation/clock.ts';
import { standardOutput } from '../../foundation/log-output.ts';
import { EventLoopDelay, RollingMax } from './event-loop-delay.ts';
import { addCounter, addGauge } from './metric-kinds.ts';

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

/** Not shorter than the usual interval of scrapes. */
const delayPeriodMs = 60_000;

export function collectProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register });
  for (const name of excluded) register.removeSingleMetric(name);
  const recent = new RollingMax(delayPeriodMs);
  new EventLoopDelay(recent);
  addGauge(register, {
    name: 'keyreeve_event_loop_delay_max_seconds',
    // The maximum: a mean would hide the delay of single requests.
    help: 'Longest event-loop delay in the last minute',
    read: () => [{ value: recent.at(monotonicMs()) / 1e3 }],
  });
  addCounter(register, {
    name: 'keyreeve_log_records_lost_total',
    help: 'Lost log records',
    read: () => [{ value: standardOutput.lost }],
  });
}
