/**
 * Restoring a backup, in one transaction: either all of it or nothing. A deletion can't be undone, so what was deleted
 * since the backup is deleted again, and what was taken away from accounts is taken away again, from the deletion journal
 * and from the audit log of the database that is replaced. Every session ends.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAllSessionsTx } from '../accounts/session-epoch-store.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEvent } from '../audit/audit.ts';
import { toInstant, type Clock } from '../../foundation/clock.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { newestSchema } from '../../foundation/database/migrate.ts';
import { DeletionJournal } from '../deletion-journal/deletion-journal.ts';
import { replayJournal, surveyJournal, type ReplayResult, type Survey } from './replay.ts';
import { BackupError, type BackupHeader } from './format.ts';
import { readHeader, readRows, verifyBackup } from './read-backup.ts';
import { clearTables, continueIds, holdsRows, insertRows, lockTables, storedTables } from './store.ts';
import type { Counts } from './tables.ts';

export interface RestoreOptions {
  readonly db: Db;
  readonly keys: InstallationKeys;
  readonly clock: Clock;
  readonly path: string;
  /** The installation's own, where one is configured. */
  readonly journal: DeletionJournal | undefined;
  /** Beside it. */
  readonly journalFolders: readonly string[];
  /** Whether what the database holds may go. */
  readonly mayReplace: boolean;
  /** Whether deleted keys may come back where the journal doesn't tell of them. */
  readonly acceptsRevival: boolean;
}

export interface Restored extends ReplayResult {
  /** When the backup was made, ISO 8601. */
  readonly madeAt: string;
  readonly rows: Counts;
  /** Whether the journal holds changes of roles, passwords, email addresses and second factors too. */
  readonly journalHasChanges: boolean;
  /**
   * The journal is known to hold all that was deleted until then, ISO 8601; null when nothing is known. What was deleted
   * later on an instance whose journal wasn't named isn't in it.
   */
  readonly journalCompleteUntil: string | null;
  /** What of the journal couldn't be believed. */
  readonly warnings: readonly string[];
}

/** @throws BackupError, JournalError, DomainError `unavailable`; nothing has changed then */
export async function restoreBackup(principal: Principal, options: RestoreOptions): Promise<Restored> {
  const { db, keys, path } = options;
  const header = await readHeader(path, keys, newestSchema(db.dialect));
  // Read twice, so that nothing that isn't ours ever reaches a statement.
  await verifyBackup(path, keys);
  // Made when it is needed.
  const spool = join(tmpdir(), `keyreeve-restore-${randomBytes(12).toString('hex')}`);
  try {
    return await db.transaction(async (tx) => restoreWithin(tx, principal, header, options, spool), { isLong: true });
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
}

async function restoreWithin(
  tx: Transaction,
  principal: Principal,
  header: BackupHeader,
  options: RestoreOptions,
  spool: string,
): Promise<Restored> {
  const { db, clock, keys, path, journal, journalFolders, mayReplace, acceptsRevival } = options;
  await lockTables(tx);
  const isReplacing = await holdsRows(tx);
  if (isReplacing && !mayReplace) {
    throw new BackupError('the database is not empty; with --replace all that it holds gives way to the backup');
  }
  const warnings: string[] = [];
  // What has been deleted in the database that is about to go. In its journal it serves every later restore as well;
  // without one it is kept in files for as long as this takes, for there may be much of it.
  const own = journal ?? new DeletionJournal({ folder: spool, db, clock, keys });
  if (isReplacing) await own.completeFrom(tx);
  const sources = {
    folders: [...new Set([own.folder, ...journalFolders])],
    keys,
    onDamage: acceptsRevival ? ({ message }: Error) => void warnings.push(message) : undefined,
  };
  const survey = await surveyJournal(sources);
  const missing = survey.empty.find((folder) => journalFolders.includes(folder));
  if (missing !== undefined) throw new BackupError(`there is no journal of deletions in ${missing}`);
  if (!acceptsRevival) assertReaches(survey, header);

  await clearTables(tx);
  const rows = await load(tx, path, keys);
  await continueIds(tx, survey.newestEvent);
  const now = clock.now();
  const result = await replayJournal(tx, sources, survey, now);
  await endAllSessionsTx(tx);
  const details = { madeAt: header.madeAt };
  await recordEvent(tx, { at: now, principal, action: 'installation.restored', details });
  const journalCompleteUntil = survey.completeUntil === 0 ? null : toInstant(survey.completeUntil);
  return {
    madeAt: header.madeAt,
    rows,
    ...result,
    journalCompleteUntil,
    journalHasChanges: survey.hasChanges && survey.folders > 0,
    warnings: [...new Set(warnings)],
  };
}

/** The position of a service that runs moves every ten minutes, and a backup moves it too. */
function assertReaches({ completeUntil, folders }: Survey, { madeAt }: BackupHeader): void {
  const hint = 'name its folder with --journal, or say --accept-revival if deleted keys may come back';
  if (folders === 0) {
    throw new BackupError(
      `there is no journal of deletions, so keys that were deleted since would work again: ${hint}`,
    );
  }
  if (completeUntil < Date.parse(madeAt)) {
    const last = completeUntil === 0 ? 'no time' : toInstant(completeUntil);
    throw new BackupError(
      `the journal of deletions is known to be complete until ${last}, and the backup was made at ${madeAt}: ${hint}`,
    );
  }
}

async function load(tx: Transaction, path: string, keys: InstallationKeys): Promise<Counts> {
  const tables = storedTables.filter(({ isInBackup }) => isInBackup);
  const counts: Record<string, number> = Object.fromEntries(tables.map(({ name }) => [name, 0]));
  for await (const { table: name, rows } of readRows(path, keys)) {
    const table = tables.find((candidate) => candidate.name === name);
    if (!table) throw new BackupError(`${path} has rows of ${name}, which a backup doesn’t hold`);
    await insertRows(tx, table, rows);
    counts[name] = (counts[name] ?? 0) + rows.length;
  }
  return counts;
}
