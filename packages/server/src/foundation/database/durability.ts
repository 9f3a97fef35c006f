/** Whether the database's settings make acknowledged commits durable. */
import type { Db } from './db.ts';
import { sql } from './sql.ts';

interface ServerSettings {
  readonly version: string;
  readonly flushes: number;
  readonly standbys: number;
  readonly waitsForStandby: number;
}

// Keyreeve itself sets the options of the embedded database.
const selectSettings = sql<ServerSettings>('select_server_settings', {
  sqlite: `select sqlite_version() as version, 1 as flushes, 0 as standbys, 0 as "waitsForStandby"`,
  postgres: `select current_setting('server_version') as version,
     case when current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on' then 1 else 0 end as flushes,
     (select count(*) from pg_stat_replication) as standbys,
     case when current_setting('synchronous_standby_names') = '' then 0 else 1 end as "waitsForStandby"`,
});

export interface Durability {
  /** Version of the database server or library. */
  readonly version: string;
  /** Settings that may lose an acknowledged deletion, as sentences without a full stop. */
  readonly warnings: readonly string[];
}

/** @throws DomainError `unavailable` */
export async function durabilityOf(db: Db): Promise<Durability> {
  const settings = await db.get(selectSettings);
  if (settings === undefined) throw new Error('a select without a table returned no row');
  const { version, flushes, standbys, waitsForStandby } = settings;
  return {
    version,
    warnings: [
      ...(flushes === 1
        ? []
        : [
            'fsync or full_page_writes is off on the PostgreSQL server: a crash of its machine may revive deleted keys',
          ]),
      ...(standbys > 0 && waitsForStandby === 0
        ? [
            'the PostgreSQL server has standbys but waits for none (synchronous_standby_names is empty): a failover may revive keys deleted just before it',
          ]
        : []),
    ],
  };
}
