/**
 * Rows of email changes: the previous verified email address of an account. They are kept for `limits.emailChangeKeptDays`. The
 * code that undoes a change is a one-time code with the time and the previous email address of the change.
 */
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** A change from one verified email address to another. */
export interface EmailChangeRow {
  readonly accountId: string;
  /** The email address before the change. */
  readonly email: string;
  readonly canonicalEmail: string;
  readonly changedAt: number;
  /** The account's session epoch after the change. It grows with every change, so it gives their order. */
  readonly epoch: number;
}

const ofAccount = `account_pk = (select pk from accounts where id = $1)`;
const columns = `(select id from accounts where accounts.pk = email_changes.account_pk) as "accountId",
  email, email_key as "canonicalEmail", changed_at as "changedAt", account_epoch as epoch`;

const insert = sql(
  'insert_email_change',
  `insert into email_changes (account_pk, email, email_key, changed_at, account_epoch)
   select pk, $2, $3, $4, session_epoch from accounts where id = $1`,
);
const selectUndoable = sql<EmailChangeRow>(
  'select_undoable_email_change',
  `select ${columns} from email_changes where (account_pk, email_key, changed_at) =
     (select account_pk, email_key, created_at from one_time_codes
      where code_hash = $1 and purpose = 'undo_email_change' and expires_at > $2)
   order by account_epoch limit 1`,
);
const listOfAccount = sql<EmailChangeRow>(
  'list_email_changes',
  `select ${columns} from email_changes where ${ofAccount} and changed_at > $2 order by account_epoch desc`,
);
// Later changes too: they began with an email address that the account should not have had.
const deleteSince = sql(
  'delete_email_changes_since',
  `delete from email_changes where ${ofAccount} and account_epoch >= $2`,
);
const deleteOld = sql(
  'delete_old_email_changes',
  `delete from email_changes where (account_pk, account_epoch) in (
     select account_pk, account_epoch from email_changes where changed_at <= $1 limit $2)`,
);

/** After the change, which has ended the sessions, in its transaction. */
export async function insertEmailChangeTx(
  tx: Transaction,
  { accountId, email, canonicalEmail, changedAt }: Omit<EmailChangeRow, 'epoch'>,
): Promise<void> {
  await tx.run(insert, [accountId, email, canonicalEmail, changedAt]);
}

/** Finds the change that a code undoes. @returns undefined when the code is unknown, deleted or expired, or the change is undone */
export const findUndoableChange = (
  reader: Pick<Reader, 'get'>,
  codeHash: Uint8Array,
  now: number,
): Promise<EmailChangeRow | undefined> => reader.get(selectUndoable, [codeHash, now]);

/** Newest first. @param after only changes after this time, in milliseconds */
export const listEmailChanges = (
  reader: Pick<Reader, 'all'>,
  accountId: string,
  after: number,
): Promise<EmailChangeRow[]> => reader.all(listOfAccount, [accountId, after]);

/**
 * Deletes a change and all later ones. Their codes find nothing then. The caller has locked the account's row.
 * @returns the number of deleted changes
 */
export const deleteEmailChangesTx = (tx: Transaction, accountId: string, epoch: number): Promise<number> =>
  tx.run(deleteSince, [accountId, epoch]);

/** @returns the number of deleted changes */
export const deleteOldEmailChanges = (db: Db, before: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteOld, [before, rowsMax]));
