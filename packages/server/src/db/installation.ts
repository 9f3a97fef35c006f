/** The one row that ties a database to its master key. */
import { timingSafeEqual } from 'node:crypto';
import type { Db, Reader } from './db.ts';
import { sql } from './sql.ts';

const insertInstallation = sql(
  'insert_installation',
  `insert into installation (id, master_key_check, created_at) values (1, $1, $2) on conflict (id) do nothing`,
);
const selectInstallation = sql<{ masterKeyCheck: Uint8Array }>(
  'select_installation',
  `select master_key_check as "masterKeyCheck" from installation where id = 1`,
);

/**
 * Claims a new database for this master key.
 * @returns whether the database belongs to it
 */
export async function claimInstallation(db: Db, masterKeyCheck: Buffer, now: number): Promise<boolean> {
  const row =
    (await db.get(selectInstallation)) ??
    (await db.transaction(async (tx) => {
      await tx.run(insertInstallation, [masterKeyCheck, now]);
      return tx.get(selectInstallation);
    }));
  return row !== undefined && timingSafeEqual(row.masterKeyCheck, masterKeyCheck);
}

/** @returns undefined when nobody has claimed it */
export async function isInstallationOf(reader: Reader, masterKeyCheck: Buffer): Promise<boolean | undefined> {
  const row = await reader.get(selectInstallation);
  return row && timingSafeEqual(row.masterKeyCheck, masterKeyCheck);
}

/** Whether the database answers. @throws DomainError `unavailable` */
export async function pingDatabase(db: Db): Promise<void> {
  await db.all(selectInstallation, [], { isShared: true });
}
