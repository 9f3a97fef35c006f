/**
 * The protocol of every change that removes rights: of a key, an account, a role, a password, an email address, a second
 * factor, a scope, a webhook endpoint, an issuer. Only this file decides what an unknown outcome of such a change means.
 *
 * A change is a function of a transaction, not a list of statements with conditions: most changes read rows under a lock and
 * decide on them, and no writer takes such a list.
 */
import { errors, type ErrorCode } from '@keyreeve/contract';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { removingRights } from '../../foundation/database/share.ts';
import { isOutcomeUnknown, mayBeRejected } from '../../foundation/database/unavailable.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { PendingChange, PendingChanges } from './pending-changes.ts';
import type { RecordingCore, Revocation, Revocations } from './revocation.ts';

/** The journal records all changes of this account with this time. */
export interface AccountChange {
  readonly accountId: string;
  /** The time that the change's audit events carry, in milliseconds. */
  readonly at: number;
}

/** An entry of the deletion journal, or how the journal finds the entries in the audit log. */
export type Recorded = Revocation | AccountChange | ((revocations: Revocations) => Promise<void>);

/** @typeParam Id of a key, an account, a scope or a manager: that for which this instance answers 503 meanwhile */
export interface Repetition<Id> extends Omit<PendingChange, 'finish'> {
  readonly id: Id;
  /**
   * The first of these transactions that is not rejected finishes the change. They do not check the caller again. They
   * change nothing if the change has happened, or if a later one has replaced it.
   */
  readonly txs: readonly ((tx: Transaction) => Promise<unknown>)[];
}

/** Checks the caller and makes the change. One function, because the statements of both are sent together. */
type Change<Made> =
  | { readonly changeTx: (tx: Transaction) => Promise<Made> }
  /** Performs a procedure, from whose result nothing follows: if the writer thread dies, there is none. */
  | { readonly perform: (db: Db) => Promise<Made & void> };

/** @typeParam Made what the transaction returns, from which the entries and the repetitions follow */
export type Narrowing<Id extends string | number, Made> = Change<Made> & NarrowingOptions<Id, Made>;

interface NarrowingOptions<Id extends string | number, Made> {
  /** Rejects by reads what the transaction would reject, so that a rejected change does not occupy the writer. */
  readonly read?: () => Promise<void>;
  /** Empty if the change removes no rights. */
  readonly recordedOf: (made: Made) => readonly Recorded[];
  /** As of a transaction: for many changes together. */
  readonly isLong?: boolean;
  /** Called after each commit, such as to send the mail of the change. */
  readonly afterCommit?: () => void;
  /** Absent for a change that the caller repeats. */
  readonly repetition?: {
    readonly pending: PendingChanges<Id>;
    readonly of: (made: Made) => readonly Repetition<Id>[];
  };
}

/**
 * Makes a change that removes rights. It resolves when every verification that starts later applies the change, and a
 * restored backup applies it too:
 * 0. After a promotion of another PostgreSQL server, its transactions wait until no process reads the earlier one (`settled.ts`).
 * 1. A change that could not be repeated is not begun: the number of pending changes is bounded.
 * 2. `read` rejects early, then one transaction checks the caller and makes the change.
 * 3. After a rejection because of a missing row, it waits for the standby. The commit that removed the row may not have
 *    reached it, and the caller takes the response as a success of that commit. A transaction that commits without changes
 *    waits by itself (`postgres-transaction.ts`).
 * 4. After a commit of unknown outcome, the caller gets 503, when every process of this instance knows the ids. The transactions
 *    of the repetitions run until one commits or all are rejected; until then, this instance answers 503 for their ids. A change that removed no rights, and one whose
 *    transaction was rejected in a batch with others, is not repeated. A procedure that may have been rejected is performed again, with
 *    its checks, unless `read` rejects it.
 * 5. A rejection of a repetition is final, because the state that caused it lasts, except 429 and 503. It waits for the
 *    standby as in step 3.
 * 6. Then the deletion journal records the change, before the response. After an unknown outcome it catches up instead, at
 *    once and after the repetition, because only the audit log shows whether and when the change was committed.
 *
 * @throws DomainError what `read` and `changeTx` throw; `unavailable`, also when the journal cannot be written, although the
 *   change holds
 */
export const runNarrowing = <Id extends string | number, Made>(
  core: Pick<RecordingCore, 'db' | 'revocations'>,
  narrowing: Narrowing<Id, Made>,
): Promise<Made> => removingRights(() => narrow(core, narrowing));

async function narrow<Id extends string | number, Made>(
  { db, revocations }: Pick<RecordingCore, 'db' | 'revocations'>,
  { read, recordedOf, isLong = false, afterCommit, repetition, ...change }: Narrowing<Id, Made>,
): Promise<Made> {
  repetition?.pending.assertRoom();
  let tried = undefined as { readonly made: Made } | undefined;
  let made: Made;
  try {
    // A rejection by a procedure costs less than a read, unless it has to wait.
    if (!('perform' in change && db.isWriterFree)) await read?.();
    if ('perform' in change) made = await change.perform(db);
    else
      made = await db.transaction(
        async (tx) => {
          // After a conflict it runs again. Only the result of the last run may have been committed.
          tried = undefined;
          tried = { made: await change.changeTx(tx) };
          return tried.made;
        },
        { isLong },
      );
  } catch (error) {
    if ('perform' in change) tried = { made: undefined as Made };
    if (isOutcomeUnknown(error) && tried && recordedOf(tried.made).length > 0) {
      revocations?.catchUpSoon();
      const unchecked = 'perform' in change && mayBeRejected(error) ? change : undefined;
      // A key of another account does not become pending.
      if (unchecked && (await isRejected(read))) throw error;
      for (const { txs, id, ...repeated } of repetition?.of(tried.made) ?? []) {
        const finish = async (): Promise<void> => {
          await finishFirst(db, unchecked ? [unchecked.perform] : txs.map((tx) => () => db.transaction(tx)));
          afterCommit?.();
          revocations?.catchUpSoon();
        };
        repetition?.pending.add(id, { ...repeated, finish });
      }
      await repetition?.pending.published();
    }
    if (isAbsence(error)) await db.confirm();
    throw error;
  }
  afterCommit?.();
  await record(revocations, recordedOf(made));
  return made;
}

/**
 * Steps 0, 4 and 6 of {@link runNarrowing} for a change that the caller repeats, by a function with a transaction of its own.
 * @param revocations undefined without a journal
 * @throws what `change` throws; DomainError `unavailable` when the journal cannot be written, although the change holds
 */
export async function recordingChanges<T>(
  revocations: Revocations | undefined,
  recorded: AccountChange | Revocation,
  change: () => Promise<T>,
): Promise<T> {
  const result = await removingRights(change).catch((error: unknown) => {
    if (isOutcomeUnknown(error)) revocations?.catchUpSoon();
    throw error;
  });
  await record(revocations, [recorded]);
  return result;
}

async function record(revocations: Revocations | undefined, recorded: readonly Recorded[]): Promise<void> {
  if (!revocations) return;
  const entries = recorded.filter((one) => 'kind' in one);
  if (entries.length > 0) await revocations.record(entries);
  for (const one of recorded)
    if (typeof one === 'function') await one(revocations);
    else if ('accountId' in one) await revocations.recordChanges(one.accountId, one.at);
}

/** @throws unless one transaction commits, or all are rejected and the state that rejects them is durable */
async function finishFirst(db: Db, attempts: readonly ((db: Db) => Promise<unknown>)[]): Promise<void> {
  for (const attempt of attempts) {
    try {
      await removingRights(() => attempt(db));
      return;
    } catch (error) {
      if (!(error instanceof DomainError) || isTemporary(error.code)) throw error;
    }
  }
  await db.confirm();
}

/** Whether a read rejects a change. If the change has happened, it does too. */
async function isRejected(read: (() => Promise<void>) | undefined): Promise<boolean> {
  try {
    await read?.();
    return false;
  } catch (error) {
    return error instanceof DomainError && !isTemporary(error.code);
  }
}

/** Such as a full queue of the writer: the change can still be made. */
const isTemporary = (code: ErrorCode): boolean => errors[code].status === 429 || errors[code].status === 503;

const absences: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'account_not_found',
  'issuer_not_found',
  'key_not_found',
  'manager_not_found',
  // The id of a key with a given secret follows from the secret, so another account may have it after a deletion.
  'not_key_owner',
  'portal_session_not_found',
  'program_not_found',
  'scope_not_found',
]);

const isAbsence = (error: unknown): boolean => error instanceof DomainError && absences.has(error.code);
