/** SQL of the running processes and of what they count by minute. */
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { newestRootKeyVersion } from '../../foundation/database/root-keys.ts';
import { rootKeyChanged } from '../../foundation/database/root-key-changed.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface InstanceRow {
  readonly id: string;
  readonly version: string;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly seenAt: number;
  /** Of the master key that it has started with. */
  readonly masterKeyId: string;
  /** JSON of the settings that it has started with (`app/configuration/settings-record.ts`). */
  readonly settings: string;
}

export interface MinuteRow {
  /** Start, in milliseconds. */
  readonly minute: number;
  /** JSON. */
  readonly counts: string;
}

const saveMinute = sql(
  'save_verification_minute',
  `insert into verification_minutes (minute, instance, counts) values ($1, $2, $3)
   on conflict (minute, instance) do update set counts = excluded.counts`,
);
const saveInstance = sql(
  'save_instance',
  `insert into instances (id, version, started_at, seen_at, master_key_id, settings) values ($1, $2, $3, $4, $5, $6)
   on conflict (id) do update set seen_at = excluded.seen_at`,
);
const removeInstance = sql('delete_instance', 'delete from instances where id = $1');
const listMinuteRows = sql<MinuteRow>(
  'list_verification_minutes',
  'select minute, counts from verification_minutes where minute >= $1 order by minute',
);
const listInstanceRows = sql<InstanceRow>(
  'list_instances',
  `select id, version, started_at as "startedAt", seen_at as "seenAt", master_key_id as "masterKeyId", settings from instances
   order by started_at desc, id limit $1`,
);
const listAllRows = sql<InstanceRow>(
  'list_all_instances',
  `select id, version, started_at as "startedAt", seen_at as "seenAt", master_key_id as "masterKeyId", settings from instances
   order by started_at, id`,
);
// SQLite has one writer.
const lockInstances = sql('lock_instances', {
  sqlite: 'select null',
  postgres: 'lock table instances in exclusive mode',
});
const deleteMinutes = sql('delete_verification_minutes', 'delete from verification_minutes where minute < $1');
const deleteInstances = sql('delete_old_instances', 'delete from instances where seen_at < $1');

/**
 * @param minutes of this process, in the order of time
 * @param rootKeyVersion that the process has opened; undefined: it is not compared
 * @throws DomainError `unavailable` after a rotation of the root key ({@link isRootKeyChanged})
 */
export const saveMinutes = (
  db: Db,
  instance: InstanceRow,
  minutes: readonly MinuteRow[],
  rootKeyVersion?: number,
): Promise<void> =>
  db.transaction(async (tx) => {
    await saveInstanceTx(tx, instance);
    db.usageFile?.recordCommitsTx(tx);
    for (const { minute, counts } of minutes) await tx.run(saveMinute, [minute, instance.id, counts]);
    // After the row: a rotation locks the table, so it either finds the row, or its commit is visible here.
    if (rootKeyVersion !== undefined && (await newestRootKeyVersion(tx)) !== rootKeyVersion) throw rootKeyChanged();
  });

/** No process starts before the commit. */
export const lockInstancesTx = async (tx: Transaction): Promise<void> => void (await tx.all(lockInstances));

export const deleteInstance = async (db: Db, id: string): Promise<void> =>
  void (await db.transaction((tx) => tx.run(removeInstance, [id])));

/** @param since milliseconds */
export const listMinutes = (reader: Reader, since: number): Promise<MinuteRow[]> => reader.all(listMinuteRows, [since]);

/** A process writes its row when it starts, and each minute. */
export const saveInstanceTx = async (tx: Transaction, instance: InstanceRow): Promise<void> => {
  const { id, version, startedAt, seenAt, masterKeyId, settings } = instance;
  await tx.run(saveInstance, [id, version, startedAt, seenAt, masterKeyId, settings]);
};

/** All, in the order of their starts. Rows of processes that ended are kept for two days. */
export const listAllInstances = (reader: Reader): Promise<InstanceRow[]> => reader.all(listAllRows);

/** The newest first. */
export const listInstances = (reader: Reader, max: number): Promise<InstanceRow[]> =>
  reader.all(listInstanceRows, [max]);

/** Deletes minutes and processes from before a time, in milliseconds. */
export const deleteOldMinutes = (db: Db, before: number): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.run(deleteMinutes, [before]);
    await tx.run(deleteInstances, [before]);
  });
