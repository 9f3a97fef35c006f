/** Rows of one-time codes. Taking one deletes it: of any number of rivals one gets it. */
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

/** What a code is good for, and nothing else. */
export type CodePurpose =
  'verify_email' | 'reset_password' | 'change_email' | 'set_email' | 'accept_invitation' | 'first_administrator';

export interface NewCode {
  readonly hash: Buffer;
  readonly purpose: CodePurpose;
  /** None for the first administrator's. */
  readonly accountId: string | null;
  /** Of a change of email: the new one. */
  readonly email?: { readonly email: string; readonly canonicalEmail: string };
  /** Of a sign-up: the one that was chosen with it. */
  readonly passwordHash?: string;
  readonly now: number;
  readonly expiresAt: number;
}

export interface CodeRow {
  readonly accountId: string | null;
  readonly email: string | null;
  readonly canonicalEmail: string | null;
  readonly passwordHash: string | null;
  readonly createdAt: number;
}

const inserted = `insert into one_time_codes
  (code_hash, purpose, account_pk, email, email_key, password_hash, created_at, expires_at)`;
// Of an account that is gone no code is made: it would be nobody's.
const insert = sql(
  'insert_one_time_code',
  `${inserted} select $1, $2, pk, $4, $5, $6, $7, $8 from accounts where id = $3`,
);
const insertUnowned = sql('insert_unowned_code', `${inserted} values ($1, $2, null, $3, $4, $5, $6, $7)`);
const columns = `(select id from accounts where accounts.pk = one_time_codes.account_pk) as "accountId",
  email, email_key as "canonicalEmail", password_hash as "passwordHash", created_at as "createdAt"`;
const live = `code_hash = $1 and purpose = $2 and expires_at > $3`;
const select = sql<CodeRow>('select_one_time_code', `select ${columns} from one_time_codes where ${live}`);
const take = sql<CodeRow>('take_one_time_code', `delete from one_time_codes where ${live} returning ${columns}`);
// An email address that an administrator has set is confirmed whatever is done in the account meanwhile: a thief, who may
// have its password, must not void it by changing that.
const removeOfAccount = sql(
  'delete_account_codes',
  `delete from one_time_codes
   where account_pk = (select pk from accounts where id = $1) and purpose <> 'set_email'`,
);
const removeOfAccounts = sql(
  'delete_codes_of_accounts',
  onList(`delete from one_time_codes where purpose <> 'set_email'
    and account_pk in (select pk from accounts where id in ({ids}))`),
);
const removeOfPurpose = sql(
  'delete_account_codes_of_purpose',
  `delete from one_time_codes where account_pk = (select pk from accounts where id = $1) and purpose = $2`,
);
const removeUnowned = sql(
  'delete_unowned_codes',
  `delete from one_time_codes where account_pk is null and purpose = $1`,
);
const removeExpired = sql(
  'delete_expired_codes',
  `delete from one_time_codes where code_hash in (select code_hash from one_time_codes where expires_at <= $1 limit $2)`,
);

/** Nothing when the account is gone meanwhile. */
export async function insertCodeTx(tx: Transaction, code: NewCode): Promise<void> {
  const { hash, purpose, accountId, email, passwordHash, now, expiresAt } = code;
  const rest = [email?.email ?? null, email?.canonicalEmail ?? null, passwordHash ?? null, now, expiresAt];
  if (accountId === null) await tx.run(insertUnowned, [hash, purpose, ...rest]);
  else await tx.run(insert, [hash, purpose, accountId, ...rest]);
}

/** Looks at it and leaves it. */
export const findCode = (
  reader: Pick<Reader, 'get'>,
  hash: Buffer,
  purpose: CodePurpose,
  now: number,
): Promise<CodeRow | undefined> => reader.get(select, [hash, purpose, now]);

/** @returns undefined for one that is unknown, used, expired or of another purpose; nothing is taken then */
export const redeemCodeTx = (
  tx: Transaction,
  hash: Buffer,
  purpose: CodePurpose,
  now: number,
): Promise<CodeRow | undefined> => tx.get(take, [hash, purpose, now]);

/** Those of a purpose; without one, all that were sent for the account but `set_email`. */
export async function deleteCodesTx(tx: Transaction, accountId: string, purpose?: CodePurpose): Promise<void> {
  if (purpose === undefined) await tx.run(removeOfAccount, [accountId]);
  else await tx.run(removeOfPurpose, [accountId, purpose]);
}

/** The same for many accounts, all that were sent for them but `set_email`. */
export const deleteCodesOfAccountsTx = async (tx: Transaction, accountIds: readonly string[]): Promise<void> =>
  void (await tx.run(removeOfAccounts, [JSON.stringify(accountIds)]));

/** Those that belong to no account yet. */
export const deleteUnownedCodesTx = async (tx: Transaction, purpose: CodePurpose): Promise<void> =>
  void (await tx.run(removeUnowned, [purpose]));

/** @returns how many were deleted */
export const deleteExpiredCodes = (db: Db, now: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(removeExpired, [now, rowsMax]));
