/**
 * Rows of email changes: the previous verified email address of an account, and the code that undoes the change. They are
 * kept for `limits.emailChangeKeptDays`.
 */
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** A change from one verified email address to another. */
export interface EmailChangeRow {
  readonly codeHash: Uint8Array;
  readonly accountId: string;
  /** The email address before the change. */
  readonly email: string;
  readonly canonicalEmail: string;
  readonly changedAt: number;
  /** The account's session epoch after the change. It grows with every change, so it gives their order. */
  readonly epoch: number;
}

export interface NewEmailChange extends EmailChangeRow {
  /** End of the code's validity, in milliseconds; 0 when it was not sent. */
  readonly undoUntil: number;
}

const ofAccount = `account_pk = (select pk from accounts where id = $1)`;
const columns = `code_hash as "codeHash", (select id from accounts where accounts.pk = email_changes.account_pk) as "accountId",
  email, email_key as "canonicalEmail", changed_at as "changedAt", account_epoch as epoch`;

const insert = sql(
  'insert_email_change',
  `insert into email_changes (code_hash, account_pk, email, email_key, changed_at, account_epoch, undo_until)
   select $2, pk, $3, $4, $5, session_epoch, $6 from accounts where id = $1`,
);
const selectUndoable = sql<EmailChangeRow>(
  'select_undoable_email_change',
  `select ${columns} from email_changes where code_hash = $1 and undo_until > $2`,
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
const voidCodes = sql('void_email_undo_codes', `update email_changes set undo_until = 0 where ${ofAccount}`);
const voidAllCodes = sql('void_all_email_undo_codes', `update email_changes set undo_until = 0 where undo_until > 0`);
const deleteOld = sql(
  'delete_old_email_changes',
  `delete from email_changes where code_hash in (select code_hash from email_changes where changed_at <= $1 limit $2)`,
);

/** After the change, in its transaction. */
export async function insertEmailChangeTx(tx: Transaction, change: Omit<NewEmailChange, 'epoch'>): Promise<void> {
  const { codeHash, accountId, email, canonicalEmail, changedAt, undoUntil } = change;
  await tx.run(insert, [accountId, codeHash, email, canonicalEmail, changedAt, undoUntil]);
}

/** Finds the change that a code undoes. @returns undefined when the code is unknown, used, void or expired */
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
 * Deletes a change and all later ones, with their codes. The caller has locked the account's row.
 * @returns the number of deleted changes
 */
export const deleteEmailChangesTx = (tx: Transaction, accountId: string, epoch: number): Promise<number> =>
  tx.run(deleteSince, [accountId, epoch]);

/** Voids the undo codes of an account, and keeps the previous email addresses. */
export const voidUndoCodesTx = async (tx: Transaction, accountId: string): Promise<void> =>
  void (await tx.run(voidCodes, [accountId]));

/** After a rotation of the root key. @returns the number of codes that were not void */
export const voidAllUndoCodesTx = (tx: Transaction): Promise<number> => tx.run(voidAllCodes);

/** @returns the number of deleted changes */
export const deleteOldEmailChanges = (db: Db, before: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteOld, [before, rowsMax]));
