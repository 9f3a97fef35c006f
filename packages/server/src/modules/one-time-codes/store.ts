/** Rows of one-time codes. To redeem a code deletes its row, so only one of several concurrent requests succeeds. */
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** A code works for its own purpose only. */
export type CodePurpose =
  | 'verify_email'
  | 'reset_password'
  | 'change_email'
  | 'set_email'
  /** Of the email change that happened at its `createdAt`. */
  | 'undo_email_change'
  | 'accept_invitation'
  /** Deletes the key of its `target`. */
  | 'remove_key'
  | 'first_administrator';

export interface NewCode {
  readonly hash: Buffer;
  readonly purpose: CodePurpose;
  /** Null for `first_administrator`: there is no account yet. */
  readonly accountId: string | null;
  /** The new email address of `change_email` and `set_email`, the previous one of `undo_email_change`, the recipient of `remove_key`. */
  readonly email?: { readonly email: string; readonly canonicalEmail: string };
  /** The password of the sign-up that the code of `verify_email` was sent for. */
  readonly passwordHash?: string;
  /** What the code is about, besides the account. */
  readonly target?: string;
  readonly now: number;
  readonly expiresAt: number;
}

export interface CodeRow {
  readonly accountId: string | null;
  readonly email: string | null;
  readonly canonicalEmail: string | null;
  readonly passwordHash: string | null;
  readonly target: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const inserted = `insert into one_time_codes
  (code_hash, purpose, account_pk, email, email_key, password_hash, target, created_at, expires_at)`;
// Inserts nothing when the account has been deleted.
const insert = sql(
  'insert_one_time_code',
  `${inserted} select $1, $2, pk, $4, $5, $6, $7, $8, $9 from accounts where id = $3`,
);
const insertUnowned = sql('insert_unowned_code', `${inserted} values ($1, $2, null, $3, $4, $5, $6, $7, $8)`);
// The lock orders the code before or after a change that invalidates the codes of the account: otherwise, a code of which that
// change has seen no row could remain.
const ownerOfRequest =
  'select pk from accounts where pk = (select account_pk from one_time_codes where code_hash = $1)';
const lockOwner = sql<{ readonly pk: number }>('lock_owner_of_code_request', {
  sqlite: ownerOfRequest,
  postgres: `${ownerOfRequest} for update`,
});
// What an administrator has set, and what protects the owner, outlasts changes that a thief can make.
const lasting = `('set_email', 'undo_email_change', 'remove_key')`;
// A disabled account can use no other code.
const isOfUse = `(purpose in ${lasting} or account_pk in (select pk from accounts where disabled_at is null))`;
// With the time of the request: the newest sign-up is the one that was requested last.
const issue = sql(
  'issue_one_time_code',
  `${inserted} select $2, purpose, account_pk, email, email_key, password_hash, target, created_at, $3 from one_time_codes
   where code_hash = $1 and expires_at > $4 and ${isOfUse}`,
);
const selectRequest = sql<{ readonly expiresAt: number }>(
  'select_code_request',
  `select expires_at as "expiresAt" from one_time_codes where code_hash = $1 and expires_at > $2 and ${isOfUse}`,
);
const deleteOne = sql('delete_one_time_code', 'delete from one_time_codes where code_hash = $1');
const columns = `(select id from accounts where accounts.pk = one_time_codes.account_pk) as "accountId",
  email, email_key as "canonicalEmail", password_hash as "passwordHash", target, created_at as "createdAt",
  expires_at as "expiresAt"`;
const live = `code_hash = $1 and purpose = $2 and expires_at > $3`;
const select = sql<CodeRow>('select_one_time_code', `select ${columns} from one_time_codes where ${live}`);
const redeem = sql<CodeRow>('take_one_time_code', `delete from one_time_codes where ${live} returning ${columns}`);
// A thief who has the password could otherwise void the lasting codes by changing it.
const deleteOfAccount = sql(
  'delete_account_codes',
  `delete from one_time_codes
   where account_pk = (select pk from accounts where id = $1) and purpose not in ${lasting}`,
);
const deleteOfPurpose = sql(
  'delete_account_codes_of_purpose',
  `delete from one_time_codes where account_pk = (select pk from accounts where id = $1) and purpose = $2`,
);
const selectUnowned = sql<{ readonly expiresAt: number }>(
  'select_unowned_code',
  `select expires_at as "expiresAt" from one_time_codes
   where account_pk is null and purpose = $1 and expires_at > $2 limit 1`,
);
const deleteUnowned = sql(
  'delete_unowned_codes',
  `delete from one_time_codes where account_pk is null and purpose = $1`,
);
const deleteAll = sql('delete_all_codes', `delete from one_time_codes`);
const deleteExpired = sql(
  'delete_expired_codes',
  `delete from one_time_codes where code_hash in (select code_hash from one_time_codes where expires_at <= $1 limit $2)`,
);

/** Inserts nothing when the account has been deleted. */
export async function insertCodeTx(tx: Transaction, code: NewCode): Promise<void> {
  const { hash, purpose, accountId, email, passwordHash = null, target = null, now, expiresAt } = code;
  const rest = [email?.email ?? null, email?.canonicalEmail ?? null, passwordHash, target, now, expiresAt];
  if (accountId === null) await tx.run(insertUnowned, [hash, purpose, ...rest]);
  else await tx.run(insert, [hash, purpose, accountId, ...rest]);
}

/** A code for a request (`OneTimeCodes.request`). */
export interface IssuedCode {
  readonly requestHash: Buffer;
  readonly hash: Buffer;
  readonly expiresAt: number;
}

/** @returns false if the request has expired, or its account was deleted or disabled, or the codes of the account were deleted */
export async function issueCodeTx(
  tx: Transaction,
  { requestHash, hash, expiresAt }: IssuedCode,
  now: number,
): Promise<boolean> {
  await tx.get(lockOwner, [requestHash]);
  return (await tx.run(issue, [requestHash, hash, expiresAt, now])) === 1;
}

/** Whether {@link issueCodeTx} would issue a code. */
export const isCodeRequested = async (
  reader: Pick<Reader, 'get'>,
  requestHash: Buffer,
  now: number,
): Promise<boolean> => (await reader.get(selectRequest, [requestHash, now])) !== undefined;

/** Deletes a code that no one has received. */
export const deleteCode = async (db: Db, hash: Buffer): Promise<void> =>
  void (await db.transaction((tx) => tx.run(deleteOne, [hash])));

/** Reads the code and keeps it. */
export const findCode = (
  reader: Pick<Reader, 'get'>,
  hash: Buffer,
  purpose: CodePurpose,
  now: number,
): Promise<CodeRow | undefined> => reader.get(select, [hash, purpose, now]);

/** @returns undefined for a code that is unknown, used, expired or of another purpose; nothing is deleted then */
export const redeemCodeTx = (
  tx: Transaction,
  hash: Buffer,
  purpose: CodePurpose,
  now: number,
): Promise<CodeRow | undefined> => tx.get(redeem, [hash, purpose, now]);

/** @param purpose deletes the codes of this purpose only; without it, all codes of the account except `set_email`, `undo_email_change` and `remove_key` */
export async function deleteCodesTx(tx: Transaction, accountId: string, purpose?: CodePurpose): Promise<void> {
  if (purpose === undefined) await tx.run(deleteOfAccount, [accountId]);
  else await tx.run(deleteOfPurpose, [accountId, purpose]);
}

/** Whether a code of this purpose that belongs to no account is valid. */
export const hasUnownedCodeTx = async (tx: Transaction, purpose: CodePurpose, now: number): Promise<boolean> =>
  (await tx.get(selectUnowned, [purpose, now])) !== undefined;

/** Deletes the codes that belong to no account. */
export const deleteUnownedCodesTx = async (tx: Transaction, purpose: CodePurpose): Promise<void> =>
  void (await tx.run(deleteUnowned, [purpose]));

/** After a rotation of the root key, and a replay of the deletion journal. @returns the number of deleted codes */
export const deleteAllCodesTx = (tx: Transaction): Promise<number> => tx.run(deleteAll);

/** @returns the number of deleted codes */
export const deleteExpiredCodes = (db: Db, now: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteExpired, [now, rowsMax]));
