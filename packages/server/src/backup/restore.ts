/**
 * Restoring a backup, in one transaction: either all of it or nothing. A deletion can't be undone, so what was deleted
 * since the backup is deleted again, from the journal of deletions and from the trail of the database that is replaced.
 * Every session ends.
 */
import { recordEvent, type Principal } from '../audit/audit.ts';
import { toInstant, type Clock } from '../clock.ts';
import type { InstallationKeys } from '../crypto/master-key.ts';
import type { Db, Transaction } from '../db/db.ts';
import { newestSchema } from '../db/migrate.ts';
import { revocationsAfter, type DeletionJournal } from '../deletion-journal/deletion-journal.ts';
import { replayJournal, surveyJournal, type Replayed, type Survey } from '../deletion-journal/replay.ts';
import type { Revocation } from '../deletion-journal/revocation.ts';
import { BackupError, type BackupHeader } from './format.ts';
import { readHeader, readRows, verifyBackup } from './read-backup.ts';
import { clearTables, continueIds, endSessions, holdsRows, insertRows, lockTables, storedTables } from './store.ts';
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

export interface Restored {
  /** When the backup was made, ISO 8601. */
  readonly madeAt: string;
  readonly rows: Counts;
  readonly replayed: Replayed;
  /** What of the journal couldn't be believed. */
  readonly warnings: readonly string[];
}

/** @throws BackupError, JournalError, DomainError `unavailable`; nothing has changed then */
export async function restoreBackup(principal: Principal, options: RestoreOptions): Promise<Restored> {
  const { db, keys, path } = options;
  const header = await readHeader(path, keys, newestSchema(db.dialect));
  // Read twice, so that nothing that isn't ours ever reaches a statement.
  await verifyBackup(path, keys);
  return db.transaction(async (tx) => restoreWithin(tx, principal, header, options), { isLong: true });
}

async function restoreWithin(
  tx: Transaction,
  principal: Principal,
  header: BackupHeader,
  options: RestoreOptions,
): Promise<Restored> {
  const { clock, keys, path, journal, journalFolders, mayReplace, acceptsRevival } = options;
  await lockTables(tx);
  const isReplacing = await holdsRows(tx);
  if (isReplacing && !mayReplace) {
    throw new BackupError('the database is not empty; with --replace all that it holds gives way to the backup');
  }
  const warnings: string[] = [];
  const sources = {
    folders: [...new Set([...(journal ? [journal.folder] : []), ...journalFolders])],
    keys,
    more: isReplacing ? await knownToReplaced(tx, journal) : [],
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
  const replayed = await replayJournal(tx, sources, survey, now);
  await endSessions(tx);
  const details = { madeAt: header.madeAt };
  await recordEvent(tx, { at: now, principal, action: 'installation.restored', details });
  return { madeAt: header.madeAt, rows, replayed, warnings: [...new Set(warnings)] };
}

/** What has been deleted in the database that is about to go. In the journal it serves every later restore as well. */
async function knownToReplaced(tx: Transaction, journal: DeletionJournal | undefined): Promise<readonly Revocation[]> {
  if (!journal) return (await Array.fromAsync(revocationsAfter(tx, 0))).flat();
  await journal.catchUp(tx);
  return [];
}

function assertReaches({ reachesAt }: Survey, { madeAt }: BackupHeader): void {
  const hint = 'name its folder with --journal, or say --accept-revival if deleted keys may come back';
  if (reachesAt === 0) {
    throw new BackupError(
      `there is no journal of deletions, so keys that were deleted since would work again: ${hint}`,
    );
  }
  if (reachesAt < Date.parse(madeAt)) {
    const last = toInstant(reachesAt);
    throw new BackupError(`the journal of deletions ends at ${last}, before the backup was made at ${madeAt}: ${hint}`);
  }
}

async function load(tx: Transaction, path: string, keys: InstallationKeys): Promise<Counts> {
  const tables = storedTables.filter(({ isPassing }) => !isPassing);
  const counts: Record<string, number> = Object.fromEntries(tables.map(({ name }) => [name, 0]));
  for await (const { table: name, rows } of readRows(path, keys)) {
    const table = tables.find((candidate) => candidate.name === name);
    if (!table) throw new BackupError(`${path} has rows of ${name}, which a backup doesn’t hold`);
    await insertRows(tx, table, rows);
    counts[name] = (counts[name] ?? 0) + rows.length;
  }
  return counts;
}
