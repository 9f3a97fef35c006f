/** Metrics of this process's use of the database. */
import type { Registry } from '@prometheus-io/client';
import type { Db } from '../../foundation/database/db.ts';
import { addCounter, addGauge, addHistogram, by } from './metric-kinds.ts';

export type MeasuredDb = Pick<Db, 'times' | 'writes' | 'connections' | 'primaryProof'>;

export function collectDatabase(registry: Registry, db: MeasuredDb): void {
  const { times, writes } = db;
  addHistogram(registry, {
    name: 'keyreeve_database_operation_duration_seconds',
    help: 'Duration of a shared database read or commit',
    read: () =>
      Object.entries(times.byOperation).map(([operation, durations]) => ({ labels: { operation }, durations })),
  });
  addCounter(registry, {
    name: 'keyreeve_database_errors_total',
    help: 'Failed reads and commits',
    labelNames: ['operation'],
    read: () => by('operation', { read: times.failedReads, commit: writes.commits.failed }),
  });
  addCounter(registry, {
    name: 'keyreeve_database_commits_total',
    help: 'Commits, by result',
    labelNames: ['result'],
    read: () => by('result', writes.commits),
  });
  if (db.connections === undefined) return;
  addGauge(registry, {
    name: 'keyreeve_postgres_connections',
    help: 'Connections to PostgreSQL',
    labelNames: ['state'],
    read: () => by('state', { ...db.connections }),
  });
  const { primaryProof: proof } = db;
  addGauge(registry, {
    name: 'keyreeve_postgres_primary_proof_age_seconds',
    help: 'Time since PostgreSQL was last proven to be the newest primary, with `KEYREEVE_DATABASE_FAILOVER=unfenced`',
    // Infinity before the first proof.
    read: () => (proof ? [{ value: (proof.ageMs ?? Infinity) / 1_000 }] : []),
  });
  addCounter(registry, {
    name: 'keyreeve_postgres_unproven_reads_total',
    help: 'Reads that were refused because of that, without those of verifiers',
    read: () => (proof ? [{ value: proof.refusedReads }] : []),
  });
}
