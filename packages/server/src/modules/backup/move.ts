/**
 * Moves an installation to another database: copies every row in one transaction of the target, so that all credentials
 * stay valid. The caller must ensure that nothing writes to the source meanwhile.
 */
import type { Principal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import { newestEventId } from '../audit/store.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { isInstallationOf } from '../../foundation/database/installation.ts';
import {
  countMissingMigrations,
  describeNewerSchema,
  newestSchema,
  SchemaError,
} from '../../foundation/database/migrate.ts';
import { BackupError } from './format.ts';
import {
  clearTablesTx,
  continueIdsTx,
  countRows,
  holdsRows,
  insertRowsTx,
  isMoveEvent,
  lockTablesTx,
  mayCreate,
  pagesOf,
  storedTables,
} from './store.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Counts } from './tables.ts';

type Source = Reader & Pick<Db, 'dialect'>;

export interface Moved {
  readonly rows: Counts;
  /** Whether an earlier call had moved everything, and was interrupted after its commit. */
  readonly wasDone: boolean;
}

/** @throws BackupError when the target holds other rows, DomainError `unavailable`; the target is unchanged then */
export async function moveInstallation(
  principal: Principal,
  source: Source,
  target: Db,
  { keys, clock }: { readonly keys: Pick<InstallationKeys, 'check'>; readonly clock: Clock },
): Promise<Moved> {
  await assertReady(source, keys.check);
  const newestEvent = await newestEventId(source);
  return target.transaction(
    async (tx) => {
      await lockTablesTx(tx);
      if (await holdsRows(tx)) {
        // The source has not changed since that move, which recorded the next event.
        if (await isMoveEvent(tx, newestEvent + 1)) return { rows: {}, wasDone: true };
        throw new BackupError('the database to move to is not empty');
      }
      await clearTablesTx(tx);
      const rows = await copy(source, tx);
      await continueIdsTx(tx, newestEvent);
      await recordEventTx(tx, { at: clock.now(), principal, action: 'installation.moved' });
      return { rows, wasDone: false };
    },
    { isLong: true },
  );
}

/**
 * Checks everything that can be checked without writing.
 * @returns the number of rows that would be moved
 * @throws BackupError, SchemaError, DomainError `unavailable`
 */
export async function planMove(source: Db, target: Db, masterKeyCheck: Buffer): Promise<Counts> {
  await assertReady(source, masterKeyCheck);
  const missing = await countMissingMigrations(target);
  if (missing > 0 && !(await mayCreate(target))) {
    throw new BackupError('the role may not create tables in the database to move to');
  }
  const isNew = missing === newestSchema(target.dialect);
  if (!isNew && (await isInstallationOf(target, masterKeyCheck)) === false) {
    throw new BackupError('the database to move to belongs to another installation');
  }
  if (!isNew && (await holdsRows(target))) throw new BackupError('the database to move to is not empty');
  return source.snapshot(countRows);
}

/** @throws SchemaError unless the schema is the newest */
export async function assertMigrated(source: Source): Promise<void> {
  if ((await countMissingMigrations(source)) > 0) {
    throw new SchemaError('the database is older than this program; run `keyreeve migrate`');
  }
  const reason = await describeNewerSchema(source);
  if (reason !== undefined) throw new SchemaError(`${reason}; move it with the version that migrated it`);
}

async function assertReady(source: Source, masterKeyCheck: Buffer): Promise<void> {
  await assertMigrated(source);
  if (!(await isInstallationOf(source, masterKeyCheck))) {
    throw new BackupError('the database belongs to another installation');
  }
}

async function copy(source: Reader, tx: Transaction): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const table of storedTables) {
    counts[table.name] = 0;
    for await (const rows of pagesOf(source, table)) {
      await insertRowsTx(tx, table, rows);
      counts[table.name] = (counts[table.name] ?? 0) + rows.length;
    }
  }
  return counts;
}
