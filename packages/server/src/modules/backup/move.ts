/**
 * Moving an installation to another database, in one transaction there: every row as it is, so that all that was issued
 * before goes on working. Whoever calls sees to it that nothing else writes to the source.
 */
import type { Principal } from '../../foundation/principal.ts';
import { recordEvent } from '../audit/audit.ts';
import { newestEventId } from '../audit/store.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { isInstallationOf } from '../../foundation/database/installation.ts';
import { countMissingMigrations, newestSchema, SchemaError } from '../../foundation/database/migrate.ts';
import { BackupError } from './format.ts';
import {
  clearTables,
  continueIds,
  countRows,
  holdsRows,
  insertRows,
  isMoveEvent,
  lockTables,
  mayCreate,
  pagesOf,
  storedTables,
} from './store.ts';
import type { Counts } from './tables.ts';

type Source = Reader & Pick<Db, 'dialect'>;

export interface Moved {
  readonly rows: Counts;
  /** An earlier call had moved all of it, and was cut off before it could say so. */
  readonly wasDone: boolean;
}

/** @throws BackupError when the target holds anything else, DomainError `unavailable`; the target is as it was then */
export async function moveInstallation(
  principal: Principal,
  source: Source,
  target: Db,
  masterKeyCheck: Buffer,
  clock: Clock,
): Promise<Moved> {
  await assertReady(source, masterKeyCheck);
  const newestEvent = await newestEventId(source);
  return target.transaction(
    async (tx) => {
      await lockTables(tx);
      if (await holdsRows(tx)) {
        // The source hasn't changed since: its trail ends where that move began.
        if (await isMoveEvent(tx, newestEvent + 1)) return { rows: {}, wasDone: true };
        throw new BackupError('the database to move to is not empty');
      }
      await clearTables(tx);
      const rows = await copy(source, tx);
      await continueIds(tx, newestEvent);
      await recordEvent(tx, { at: clock.now(), principal, action: 'installation.moved' });
      return { rows, wasDone: false };
    },
    { isLong: true },
  );
}

/**
 * What would move, after everything that can be checked without writing has been.
 * @throws BackupError, SchemaError, DomainError `unavailable`
 */
export async function planMove(source: Db, target: Db, masterKeyCheck: Buffer): Promise<Counts> {
  await assertReady(source, masterKeyCheck);
  const missing = await countMissingMigrations(target);
  if (missing > 0 && !(await mayCreate(target))) {
    throw new BackupError('the role may not make tables in the database to move to');
  }
  const isNew = missing === newestSchema(target.dialect);
  if (!isNew && (await isInstallationOf(target, masterKeyCheck)) === false) {
    throw new BackupError('the database to move to belongs to another installation');
  }
  if (!isNew && (await holdsRows(target))) throw new BackupError('the database to move to is not empty');
  return source.snapshot(countRows);
}

async function assertReady(source: Source, masterKeyCheck: Buffer): Promise<void> {
  if ((await countMissingMigrations(source)) > 0) {
    throw new SchemaError('the database is older than this program; run `keyreeve migrate`');
  }
  if (!(await isInstallationOf(source, masterKeyCheck))) {
    throw new BackupError('the master key is not the one that the database was made with');
  }
}

async function copy(source: Reader, tx: Transaction): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const table of storedTables) {
    counts[table.name] = 0;
    for await (const rows of pagesOf(source, table)) {
      await insertRows(tx, table, rows);
      counts[table.name] = (counts[table.name] ?? 0) + rows.length;
    }
  }
  return counts;
}
