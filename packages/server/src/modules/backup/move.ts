/**
 * Moves an installation to another database: copies every row in one transaction of the target, so that all credentials
 * stay valid. The caller must ensure that nothing writes to the source meanwhile.
 */
import type { Principal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import { newestEventId } from '../audit/store.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { countUnusedKeysFromTx, isInstallationOf } from '../../foundation/database/installation.ts';
import {
  countMissingMigrations,
  describeNewerSchema,
  newestSchema,
  SchemaError,
} from '../../foundation/database/migrate.ts';
import { isUnavailable } from '../../foundation/database/unavailable.ts';
import { forgetUsageFileTx } from '../../foundation/database/usage-file.ts';
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
  tablesIn,
  type StoredTable,
} from './store.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Counts } from './table.ts';

interface Source extends Reader, Pick<Db, 'dialect'> {
  /** The second file of the source; undefined if it does not belong to the source or cannot be read. */
  readonly usage?: Reader | undefined;
}

interface PlannedSource extends Omit<Source, 'usage'>, Pick<Db, 'snapshot'> {
  /** As in {@link Source}. */
  readonly usage: Pick<Db, 'snapshot'> | undefined;
}

export interface Moved {
  readonly rows: Counts;
  /** Whether an earlier call had moved everything, and was interrupted after its commit. */
  readonly wasDone: boolean;
  /** Whether usage and times of last use could be read completely. Otherwise, those that could be read are moved. */
  readonly hasUsage: boolean;
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
  let hasUsage = source.usage !== undefined;
  return target.transaction(
    async (tx) => {
      await lockTablesTx(tx);
      if (await holdsRows(tx)) {
        // The source has not changed since that move, which recorded the next event.
        if (await isMoveEvent(tx, newestEvent + 1)) return { rows: {}, wasDone: true, hasUsage };
        throw new BackupError('the database to move to is not empty');
      }
      const tables = tablesIn(target.dialect, 'main');
      await clearTablesTx(tx, tables);
      const onUnreadable = (): void => void (hasUsage = false);
      const rows = await copy(source, tx, tables, onUnreadable);
      await forgetUsageFileTx(tx);
      if (!hasUsage) await countUnusedKeysFromTx(tx, clock.now());
      await continueIdsTx(tx, newestEvent);
      await recordEventTx(tx, { at: clock.now(), principal, action: 'installation.moved' });
      return { rows, wasDone: false, hasUsage };
    },
    { isLong: true },
  );
}

/**
 * Checks everything that can be checked without writing.
 * @returns the number of rows that would be moved, without those of a second file that cannot be read
 * @throws BackupError, SchemaError, DomainError `unavailable`
 */
export async function planMove(source: PlannedSource, target: Db, masterKeyCheck: Buffer): Promise<Counts> {
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
  const count = (from: Pick<Db, 'snapshot'>, file: 'main' | 'usage') =>
    from.snapshot((reader) => countRows(reader, tablesIn(source.dialect, file)));
  const main = await count(source, 'main');
  return source.usage ? { ...main, ...(await count(source.usage, 'usage').catch(noneIfUnavailable)) } : main;
}

function noneIfUnavailable(error: unknown): Counts {
  if (!isUnavailable(error)) throw error;
  return {};
}

/** @throws SchemaError unless the schema is the newest */
export async function assertMigrated(source: Omit<Source, 'usage'>): Promise<void> {
  if ((await countMissingMigrations(source)) > 0) {
    throw new SchemaError('the database is older than this program; run `keyreeve migrate`');
  }
  const reason = await describeNewerSchema(source);
  if (reason !== undefined) throw new SchemaError(`${reason}; move it with the version that migrated it`);
}

async function assertReady(source: Omit<Source, 'usage'>, masterKeyCheck: Buffer): Promise<void> {
  await assertMigrated(source);
  if (!(await isInstallationOf(source, masterKeyCheck))) {
    throw new BackupError('the database belongs to another installation');
  }
}

/** @param onUnreadable called when rows of the second file cannot be read; those before them are copied */
async function copy(
  source: Source,
  tx: Transaction,
  tables: readonly StoredTable[],
  onUnreadable: () => void,
): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    counts[table.name] = 0;
    const from = table.isUsage ? source.usage : source;
    if (!from) continue;
    const pages = pagesOf(from, table);
    for await (const rows of table.isUsage ? readable(pages, onUnreadable) : pages) {
      await insertRowsTx(tx, table, rows);
      counts[table.name] = (counts[table.name] ?? 0) + rows.length;
    }
  }
  return counts;
}

/** The pages before the first one that cannot be read. */
async function* readable<T>(pages: AsyncIterable<T>, onUnreadable: () => void): AsyncGenerator<T> {
  try {
    yield* pages;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    onUnreadable();
  }
}
