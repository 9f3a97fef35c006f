/** Metrics of the growth of the database. Each scrape reads a few rows. */
import { Gauge, type Registry } from '@prometheus-io/client';
import type { Db } from '../foundation/database/db.ts';
import { databaseBytes } from '../foundation/database/size.ts';
import { findRetentionState } from '../modules/audit-retention/store.ts';
import { countKeptEvents, cutTimeOf, listCuts } from '../modules/audit/cut-store.ts';

/** Without a connection the metrics are absent; other metrics report that. */
export function collectGrowth(registry: Registry, db: Db): void {
  const gauge = (name: string, help: string, read: () => Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.reset();
        const value = await read().catch(() => undefined);
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  };
  gauge('keyreeve_database_bytes', 'Size of the database, without its write-ahead log', () => databaseBytes(db));
  gauge('keyreeve_audit_events', 'Events in the audit log', () => countKeptEvents(db));
  gauge(
    'keyreeve_audit_cut_timestamp_seconds',
    'The retention has removed audit events from before this time; 0 if it has removed none',
    async () => cutTimeOf(await listCuts(db)) / 1_000,
  );
  gauge(
    'keyreeve_audit_cut_blocked',
    '1 if audit events that are older than the setting stay, otherwise 0',
    async () => ((await findRetentionState(db))?.blocked ? 1 : 0),
  );
}
