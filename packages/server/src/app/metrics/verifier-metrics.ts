/** Metrics of the processes that only verify. What they count is in the sums of the other metrics (`processes/verifier-report.ts`). */
import type { Registry } from '@prometheus-io/client';
import type { VerifierPool } from '../processes/verifier-pool.ts';
import type { VerifierState } from '../processes/verifier-report.ts';
import { addCounter, addGauge, type Sample } from './metric-kinds.ts';

export function collectVerifiers(registry: Registry, pool: VerifierPool): void {
  const labelNames = ['verifier'];
  const ofEach = (pick: (state: VerifierState) => number) => (): Sample[] =>
    pool.states.map(({ verifier, state }) => ({ labels: { verifier: String(verifier) }, value: pick(state) }));
  addGauge(registry, {
    name: 'keyreeve_verifiers_configured',
    help: 'Configured verifiers: processes that only verify',
    read: () => [{ value: pool.configured }],
  });
  addGauge(registry, {
    name: 'keyreeve_verifiers_listening',
    help: 'Verifiers that accept connections',
    read: () => [{ value: pool.listening }],
  });
  addCounter(registry, {
    name: 'keyreeve_verifiers_replaced_total',
    help: 'Replaced verifiers',
    read: () => [{ value: pool.replaced }],
  });
  addGauge(registry, {
    name: 'keyreeve_verifier_resident_memory_bytes',
    help: 'Memory of a verifier',
    labelNames,
    read: ofEach(({ residentBytes }) => residentBytes),
  });
  addCounter(registry, {
    name: 'keyreeve_verifier_cpu_seconds_total',
    help: 'Processor time of a verifier and its predecessors',
    labelNames,
    read: ofEach(({ processorSeconds }) => processorSeconds),
  });
  addGauge(registry, {
    name: 'keyreeve_verifier_event_loop_delay_max_seconds',
    help: 'Longest event-loop delay of a verifier in its last report, each second',
    labelNames,
    read: ofEach(({ eventLoopDelayMaxMs }) => eventLoopDelayMaxMs / 1e3),
  });
  addGauge(registry, {
    name: 'keyreeve_verifier_connections',
    help: 'Open connections of a verifier',
    labelNames,
    read: ofEach(({ connections }) => connections),
  });
  addGauge(registry, {
    name: 'keyreeve_verifier_key_limit_waiting',
    help: 'Verifications of a verifier that wait for a draw',
    labelNames,
    read: ofEach(({ waitingForDraws }) => waitingForDraws),
  });
  addCounter(registry, {
    name: 'keyreeve_verifier_log_records_lost_total',
    help: 'Lost log records of a verifier and its predecessors',
    labelNames,
    read: ofEach(({ logRecordsLost }) => logRecordsLost),
  });
}
