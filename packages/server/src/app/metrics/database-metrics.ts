/** Metrics of this process's use of the database. With workers on SQLite, the supervisor counts the commits. */
import type { Registry } from '@prometheus-io/client';
import type { Db } from '../../foundation/database/db.ts';
import { addCounter, addGauge, addHistogram, by } from './metric-kinds.ts';

export type MeasuredDb = Pick<Db, 'times' | 'writes' | 'connections'>;

export function collectDatabase(registry: Registry, db: MeasuredDb): void {
  const { times, writes } = db;
  addHistogram(registry, {
    name: 'keyreeve_database_operation_duration_seconds',
    help: 'Duration of a database read that verifications share, and of a commit that changes share',
    read: () =>
      Object.entries(times.byOperation).map(([operation, durations]) => ({ labels: { operation }, durations })),
  });
  addCounter(registry, {
    name: 'keyreeve_database_errors_total',
    help: 'Failed operations of the database',
    labelNames: ['operation'],
    read: () => by('operation', { read: times.failedReads, commit: writes.commits.failed }),
  });
  addCounter(registry, {
    name: 'keyreeve_database_commits_total',
    help: 'Commits to the database, by result',
    labelNames: ['result'],
    read: () => by('result', writes.commits),
  });
  if (db.connections === undefined) return;
  addGauge(registry, {
    name: 'keyreeve_postgres_connections',
    help: 'Connections to PostgreSQL: in use (active), and open for the next operation (idle)',
    labelNames: ['state'],
    read: () => by('state', { ...db.connections }),
  });
}
