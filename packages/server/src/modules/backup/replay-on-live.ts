/**
 * Replays the deletion journal on the database in use: for one that was put back to an older state by an asynchronous
 * failover or a copy of its files. Runs in one transaction. A second replay repeats nothing, and ends sessions again.
 */
import { endAllSessionsTx } from '../accounts/session-epoch-store.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import { newestEventId } from '../audit/store.ts';
import { deleteAllRequestsTx } from '../approvals/store.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { recordRestoreTx } from '../../foundation/database/installation.ts';
import type { DeletionJournal } from '../deletion-journal/deletion-journal.ts';
import { deleteAllPortalSessionsTx } from '../portal/store.ts';
import { deleteAllCodesTx } from '../one-time-codes/store.ts';
import { endAllShortLivedTx } from '../short-lived-secrets/store.ts';
import { replayJournal, surveyJournal, type JournalSources, type ReplayResult, type Survey } from './replay.ts';
import { BackupError } from './format.ts';
import { continueEventIdsTx, lockTablesTx } from './store.ts';

export interface ReplayOptions extends Core {
  readonly keys: InstallationKeys;
  /** The installation's own journal; undefined without one. It catches up afterwards. */
  readonly journal: DeletionJournal | undefined;
  /** Further journals. */
  readonly journalFolders: readonly string[];
  /** Makes and counts all changes, and rolls them back. */
  readonly isDryRun: boolean;
}

export interface ReplayedOnLive extends ReplayResult {
  /** As in {@link Restored}. */
  readonly journalCompleteUntil: string | null;
}

/** Rolls back the transaction of a dry run. */
class DryRunRollback extends Error {
  readonly result: ReplayedOnLive;

  constructor(result: ReplayedOnLive) {
    super('a dry run');
    this.result = result;
  }
}

/** @throws BackupError, JournalError, DomainError `unavailable`; nothing has changed then */
export async function replayOnLive(principal: Principal, options: ReplayOptions): Promise<ReplayedOnLive> {
  const { db, keys, journal, journalFolders, isDryRun } = options;
  const sources = { folders: [...new Set([...(journal ? [journal.folder] : []), ...journalFolders])], keys };
  const survey = await surveyJournal(sources);
  // The installation's own journal may be new and empty. The named ones must exist.
  const named = survey.empty.find((folder) => journalFolders.includes(folder));
  const missing = named ?? (survey.folders === 0 ? survey.empty[0] : undefined);
  if (missing !== undefined) throw new BackupError(`there is no deletion journal in ${missing}`);
  try {
    const result = await db.transaction((tx) => replayWithin(tx, principal, { ...options, sources, survey }), {
      isLong: true,
    });
    await journal?.catchUp();
    return result;
  } catch (error) {
    if (isDryRun && error instanceof DryRunRollback) return error.result;
    throw error;
  }
}

async function replayWithin(
  tx: Transaction,
  principal: Principal,
  { clock, isDryRun, sources, survey }: ReplayOptions & { readonly sources: JournalSources; readonly survey: Survey },
): Promise<ReplayedOnLive> {
  await lockTablesTx(tx);
  const now = clock.now();
  // New events must get higher ids than those in the journal, because the highest id decides whether an account is
  // disabled.
  if (survey.newestEvent > (await newestEventId(tx))) await continueEventIdsTx(tx, survey.newestEvent);
  const { replayed, unconfirmed } = await replayJournal(tx, sources, survey, now);
  await endUnrecordedTx(tx);
  await recordRestoreTx(tx, now);
  const journalCompleteUntil = survey.completeUntil === 0 ? null : toInstant(survey.completeUntil);
  const result = { replayed, unconfirmed, journalCompleteUntil };
  if (isDryRun) throw new DryRunRollback(result);
  await recordEventTx(tx, { at: now, principal, action: 'installation.journal_replayed', details: { ...replayed } });
  return result;
}

/**
 * Ends the rights that no backup has either. The journal does not record that one of them was ended, used or replaced, so a database
 * that has lost only such a commit differs in nothing else.
 */
async function endUnrecordedTx(tx: Transaction): Promise<void> {
  await endAllSessionsTx(tx);
  await deleteAllRequestsTx(tx);
  await deleteAllPortalSessionsTx(tx);
  await deleteAllCodesTx(tx);
  await endAllShortLivedTx(tx);
}
