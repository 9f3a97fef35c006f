/** Metrics of the growth of the database. Each scrape reads a few rows. */
import { Gauge, type Registry } from '@prometheus-io/client';
import type { Db } from '../../foundation/database/db.ts';
import { databaseBytes } from '../../foundation/database/size.ts';
import { findRetentionState } from '../../modules/audit-retention/store.ts';
import type { Config } from '../configuration/config.ts';
import { hasDisks, readDisks } from '../installation/disk-check.ts';
import { addGauge, type Sample } from './metric-kinds.ts';
import { countKeptEvents, cutTimeOf, listCuts } from '../../modules/audit/cut-store.ts';

export interface GrowthSources {
  readonly db: Db;
  readonly config: Pick<Config, 'database' | 'deletionJournal' | 'auditDays'>;
}

/** Without a connection the metrics are absent; other metrics report that. */
export function collectGrowth(registry: Registry, { db, config }: GrowthSources): void {
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
  gauge('keyreeve_database_bytes', 'Size of the database, without its write-ahead log', async () => {
    const usageBytes = db.usageFile ? await databaseBytes(db.usage).catch(() => 0) : 0;
    return (await databaseBytes(db)) + usageBytes;
  });
  gauge('keyreeve_audit_events', 'Events in the audit log', () => countKeptEvents(db));
  gauge(
    'keyreeve_audit_cut_timestamp_seconds',
    'Audit events from before this time were removed',
    async () => cutTimeOf(await listCuts(db)) / 1_000,
  );
  gauge(
    'keyreeve_audit_cut_blocked',
    '1 if audit events that are older than the setting stay',
    // Without the setting, no run clears what the last one has stored.
    async () => (config.auditDays !== undefined && (await findRetentionState(db))?.blocked ? 1 : 0),
  );
  if (config.auditDays !== undefined)
    gauge(
      'keyreeve_audit_retention_run_timestamp_seconds',
      'Start of the last good run of the retention, or 0',
      async () => ((await findRetentionState(db))?.runAt ?? 0) / 1_000,
    );
  if (hasDisks(config))
    addGauge(registry, {
      name: 'keyreeve_disk_free_bytes',
      help: 'Free disk space of SQLite and the deletion journal',
      labelNames: ['content'],
      read: () => freeOf(config),
    });
}

/** A disk that does not respond has no value, and does not make the scrape fail. */
const freeOf = async (config: GrowthSources['config']): Promise<Sample[]> =>
  (await readDisks(config)).flatMap(({ content, state }) =>
    state ? [{ labels: { content }, value: state.freeBytes }] : [],
  );
