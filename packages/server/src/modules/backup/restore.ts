/**
 * Restores a backup in one transaction. Deletions since the backup are repeated, and so are changes that removed
 * rights. They come from the deletion journal and from the audit log of the replaced database. Every session ends.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAllSessionsTx } from '../accounts/session-epoch-store.ts';
import { disableBeyondTx } from '../api-keys/keys-beyond-rules.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import type { RootKeys } from '../../foundation/crypto/root-key.ts';
import {
  countUnusedKeysFromTx,
  findInstallation,
  isInstallationOf,
  recordRestoreTx,
} from '../../foundation/database/installation.ts';
import { describeNewerSchema, newestSchema } from '../../foundation/database/migrate.ts';
import { isUnavailable } from '../../foundation/database/unavailable.ts';
import { forgetUsageFileTx } from '../../foundation/database/usage-file.ts';
import { insertRootKeyTx, listRootKeys } from '../../foundation/database/root-keys.ts';
import { DeletionJournal } from '../deletion-journal/deletion-journal.ts';
import { replayJournal, surveyJournal, type ReplayResult, type Survey } from './replay.ts';
import { BackupError, type BackupHeader } from './format.ts';
import { readHeader, readRows, verifyBackup, type BackupFile } from './read-backup.ts';
import { isRunning } from '../overview/attention.ts';
import { listAllInstances } from '../overview/store.ts';
import {
  clearTablesTx,
  continueIdsTx,
  holdsRows,
  insertRowsTx,
  lockTablesTx,
  storedTables,
  tablesIn,
  type StoredTable,
} from './store.ts';
import type { Counts } from './table.ts';

export interface RestoreOptions extends Core, BackupFile {
  /** Derive from `rootKeys`. */
  readonly keys: InstallationKeys;
  /** Those of the backup (`rootKeysOfBackup`). */
  readonly rootKeys: RootKeys;
  /** The check of the installation in the database when `rootKeys` were chosen; undefined if there was none. */
  readonly replacedCheck: Uint8Array | undefined;
  /** The installation's own journal; undefined without one. */
  readonly journal: DeletionJournal | undefined;
  /** Further journals. */
  readonly journalFolders: readonly string[];
  /** Whether a database with rows may be replaced. */
  readonly mayReplace: boolean;
  /** Whether to restore although the journal is incomplete, so that deleted keys may work again. */
  readonly acceptsRevival: boolean;
}

export interface Restored extends ReplayResult {
  /** When the backup was made, ISO 8601. */
  readonly madeAt: string;
  readonly rows: Counts;
  /** Whether the journal also has changes of roles, passwords, email addresses, second factors and rights of keys. */
  readonly journalHasChanges: boolean;
  /**
   * The journal has all deletions up to this time, ISO 8601; null when unknown. Later deletions are missing if they
   * were made on an instance whose journal was not named.
   */
  readonly journalCompleteUntil: string | null;
  /** Messages about untrustworthy files of the journal, and about what was not restored. */
  readonly warnings: readonly string[];
}

/** @throws BackupError, JournalError, DomainError `unavailable`; nothing was changed then */
export async function restoreBackup(principal: Principal, options: RestoreOptions): Promise<Restored> {
  const { db, keys, path } = options;
  const header = await readHeader(options, newestSchema(db.dialect));
  if (header.installation !== keys.check.toString('hex')) throw new BackupError(`${path} is of another installation`);
  const reason = await describeNewerSchema(db);
  if (reason !== undefined)
    throw new BackupError(`${reason}; restore with the version that migrated it, or into a new database`);
  // The file is read twice, so no row of an unverified file reaches a statement.
  await verifyBackup(options, keys);
  // Created when it is needed.
  const spool = join(tmpdir(), `keyreeve-restore-${randomBytes(12).toString('hex')}`);
  try {
    const restored = await db.transaction(async (tx) => restoreWithin(tx, principal, { ...options, header, spool }), {
      isLong: true,
    });
    return db.usageFile ? await restoreUsage(db, restored, options) : restored;
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
}

/**
 * Fills the second file of an embedded database, after the commit of the first one, which belongs to no second file until then. If
 * this process is killed between the two, or the second file cannot be written, usage and times of last use are lost.
 */
async function restoreUsage(db: Db, restored: Restored, options: RestoreOptions): Promise<Restored> {
  const tables = tablesIn(db.dialect, 'usage');
  try {
    await db.usageFile?.reopen();
    const rows = await db.usage.transaction(
      async (tx) => {
        // A running service may have written since the file was opened again.
        await clearTablesTx(tx, tables);
        return load(tx, options, tables);
      },
      { isLong: true },
    );
    return { ...restored, rows: { ...restored.rows, ...rows } };
  } catch (error) {
    // Everything else is restored, so no error of this step may look like that of a restore that has changed nothing.
    const reason = isUnavailable(error) ? 'their file beside the database cannot be written' : messageOf(error);
    const warning = `usage and times of last use of keys, because ${reason}`;
    return { ...restored, warnings: [...restored.warnings, warning] };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function restoreWithin(
  tx: Transaction,
  principal: Principal,
  options: RestoreOptions & { readonly header: BackupHeader; readonly spool: string },
): Promise<Restored> {
  const { db, clock, keys, rootKeys, journal, journalFolders, mayReplace, acceptsRevival, header, spool } = options;
  await lockTablesTx(tx);
  await assertSameTx(tx, options);
  const isReplacing = await holdsRows(tx);
  const isOther = (await isInstallationOf(tx, keys.check)) === false;
  // A rotation of the master key since the backup stays in force.
  const wrappings = isOther ? [] : await listRootKeys(tx);
  if (isReplacing && !mayReplace) {
    throw new BackupError('the database is not empty; with --replace, the backup replaces all that it holds');
  }
  if (isOther) await assertNoInstanceTx(tx, options);
  const warnings: string[] = [];
  // Adds the deletions that the replaced database records to the installation's journal, for later restores too.
  // Without a journal, temporary files hold them, because they may not fit into memory.
  const own = journal ?? new DeletionJournal({ folder: spool, db, clock, keys });
  if (isReplacing && !isOther) await own.completeFrom(tx);
  const sources = {
    folders: [...new Set([own.folder, ...journalFolders])],
    keys,
    onDamage: acceptsRevival ? ({ message }: Error) => void warnings.push(message) : undefined,
  };
  const survey = await surveyJournal(sources);
  const missing = survey.empty.find((folder) => journalFolders.includes(folder));
  if (missing !== undefined) throw new BackupError(`there is no deletion journal in ${missing}`);
  if (!acceptsRevival) assertComplete(survey, header);

  const tables = tablesIn(db.dialect, 'main');
  await clearTablesTx(tx, tables);
  const rows = await load(tx, options, tables);
  await forgetUsageFileTx(tx);
  for (const row of wrappings.length > 0 ? wrappings : rootKeys.rows) await insertRootKeyTx(tx, row);
  await continueIdsTx(tx, survey.newestEvent);
  const now = clock.now();
  await countUnusedKeysFromTx(tx, now);
  await recordRestoreTx(tx, now);
  const apiKeysDisabled = await disableBeyondTx(tx, header.rules, now);
  const { replayed, unconfirmed } = await replayJournal(tx, sources, survey, now);
  await endAllSessionsTx(tx);
  const details = { madeAt: header.madeAt };
  await recordEventTx(tx, { at: now, principal, action: 'installation.restored', details });
  const journalCompleteUntil = survey.completeUntil === 0 ? null : toInstant(survey.completeUntil);
  return {
    madeAt: header.madeAt,
    rows,
    replayed: { ...replayed, apiKeysDisabled: replayed.apiKeysDisabled + apiKeysDisabled },
    unconfirmed,
    journalCompleteUntil,
    journalHasChanges: survey.hasChanges && survey.folders > 0,
    warnings: [...new Set(warnings)],
  };
}

/**
 * A rotation of the root key, or a start of a service on an empty database, may have committed since `rootKeys` were chosen.
 * The backup would then bring a leaked root key back.
 */
async function assertSameTx(tx: Transaction, { replacedCheck }: RestoreOptions): Promise<void> {
  const found = (await findInstallation(tx))?.masterKeyCheck;
  const isSame = found && replacedCheck ? Buffer.compare(found, replacedCheck) === 0 : found === replacedCheck;
  if (!isSame)
    throw new BackupError(
      'the root key of the database has changed since this command has started, and nothing was restored; run the command again',
    );
}

/**
 * The database is of another installation, and so are the keys in the memory of its instances. After the restore, they would
 * reject every credential, and record audit events with a wrong key.
 */
async function assertNoInstanceTx(tx: Transaction, { clock }: RestoreOptions): Promise<void> {
  const now = clock.now();
  const running = (await listAllInstances(tx)).filter((row) => isRunning(row, now));
  if (running.length === 0) return;
  const ids = running.map(({ id }) => id).join(', ');
  throw new BackupError(
    `the database and the backup are of different installations, and instances use the database: ${ids}; stop the service. An instance that was killed counts as running for 3 minutes`,
  );
}

/**
 * A running service advances the position every 10 minutes, and making a backup advances it too. A journal that was lost is
 * rebuilt from the audit log, as far as the retention has not removed its events.
 */
function assertComplete({ completeUntil, periods, folders }: Survey, { madeAt }: BackupHeader): void {
  const hint = 'name its folder with --journal, or add --accept-revival if deleted keys may work again';
  if (folders === 0) {
    throw new BackupError(
      `there is no deletion journal, so keys that were deleted since the backup would work again: ${hint}`,
    );
  }
  if (completeUntil < Date.parse(madeAt)) {
    const last = completeUntil === 0 ? 'no time' : toInstant(completeUntil);
    throw new BackupError(
      `the deletion journal is known to be complete until ${last}, and the backup was made at ${madeAt}: ${hint}`,
    );
  }
  const made = Date.parse(madeAt);
  const known = periods.filter(({ until }) => until >= made);
  if (known.every(({ since }) => since > made)) {
    const since = toInstant(Math.min(...known.map((period) => period.since)));
    throw new BackupError(
      `the deletion journal lacks deletions from before ${since}, because the retention has removed their audit events, and the backup was made at ${madeAt}: name an older deletion journal with --journal, restore a later backup, or add --accept-revival if deleted keys may work again`,
    );
  }
}

/** Loads the rows of some tables. */
async function load(
  tx: Transaction,
  options: BackupFile & Pick<RestoreOptions, 'keys'>,
  loaded: readonly StoredTable[],
): Promise<Counts> {
  const tables = storedTables.filter(({ isInBackup }) => isInBackup);
  const counts: Record<string, number> = {};
  for (const { name } of tables.filter((table) => loaded.includes(table))) counts[name] = 0;
  for await (const { table: name, rows } of readRows(options, options.keys)) {
    const table = tables.find((candidate) => candidate.name === name);
    if (!table) throw new BackupError(`${options.path} has rows of ${name}, which is not a table of a backup`);
    if (!loaded.includes(table)) continue;
    await insertRowsTx(tx, table, rows);
    counts[name] = (counts[name] ?? 0) + rows.length;
  }
  return counts;
}
