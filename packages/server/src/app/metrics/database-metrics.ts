/** Metrics of this process's use of the database. */
import type { Registry } from '@prometheus-io/client';
import type { Db } from '../../foundation/database/db.ts';
import { addCounter, addGauge, addHistogram, by } from './metric-kinds.ts';

export type MeasuredDb = Pick<Db, 'times' | 'writes' | 'connections'>;

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
}
