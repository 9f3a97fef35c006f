/** Rows of accounts. */
import { recordEvent, type AuditAction, type Principal } from '../audit/audit.ts';
import type { Db, Transaction } from '../db/db.ts';
import { sql } from '../db/sql.ts';

export type Role = 'user' | 'admin';

export interface AccountRow {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly role: Role;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  /** Null once the email is verified. */
  readonly unverifiedSince: number | null;
  /** 1 when it can’t sign in without one. */
  readonly requiresSecondFactor: number;
}

export interface CredentialsRow extends AccountRow {
  readonly passwordHash: string;
  readonly sessionEpoch: number;
}

const columns = `id, email, email_key as "emailKey", role, created_at as "createdAt", updated_at as "updatedAt",
  disabled_at as "disabledAt", unverified_since as "unverifiedSince",
  requires_second_factor as "requiresSecondFactor"`;

const insert = sql(
  'insert_account',
  `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at, disabled_at, unverified_since)
   values ($1, $2, $3, $4, $5, 0, $6, $6, null, $7) on conflict (email_key) do nothing`,
);
const selectByIdOrKey = sql<AccountRow>(
  'select_account',
  `select ${columns} from accounts where id = $1 or email_key = $2`,
);
const selectCredentials = sql<CredentialsRow>(
  'select_account_credentials',
  `select ${columns}, password_hash as "passwordHash", session_epoch as "sessionEpoch"
   from accounts where email_key = $1`,
);
// In pages: the next one begins after the last of this.
const listPage = sql<AccountRow>(
  'list_accounts',
  `select ${columns} from accounts where (created_at, id) > ($1, $2) order by created_at, id limit $3`,
);
// Every session carries the epoch that the account had when it began: raising it ends them all.
const updatePassword = sql(
  'update_account_password',
  `update accounts set password_hash = $2, session_epoch = session_epoch + 1, updated_at = $3 where id = $1`,
);
const rehash = sql(
  'rehash_account_password',
  `update accounts set password_hash = $3 where id = $1 and password_hash = $2`,
);
const disable = sql(
  'disable_account',
  `update accounts set disabled_at = $2, session_epoch = session_epoch + 1, updated_at = $2
   where id = $1 and disabled_at is null`,
);
const enable = sql(
  'enable_account',
  `update accounts set disabled_at = null, updated_at = $2 where id = $1 and disabled_at is not null`,
);
// Sessions and keys go with it: their foreign keys cascade.
const remove = sql('delete_account', `delete from accounts where id = $1`);

export interface NewAccount {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly passwordHash: string;
  readonly role: Role;
  readonly now: number;
  /** Whether somebody has yet to show that the email is theirs. */
  readonly isUnverified?: boolean;
}

/** @returns whether it was created: false when the email is taken */
export const createAccount = (db: Db, principal: Principal, account: NewAccount): Promise<boolean> =>
  db.transaction((tx) => createAccountIn(tx, principal, account));

/** The same as part of something larger. */
export async function createAccountIn(tx: Transaction, principal: Principal, account: NewAccount): Promise<boolean> {
  const { id, email, emailKey, passwordHash, role, now, isUnverified = false } = account;
  const values = [id, email, emailKey, passwordHash, role, now, isUnverified ? now : null];
  if ((await tx.run(insert, values)) === 0) return false;
  await recordEvent(tx, { at: now, principal, action: 'account.created', accountId: id, details: { role } });
  return true;
}

export const findAccount = (db: Db, id: string, emailKey: string): Promise<AccountRow | undefined> =>
  db.get(selectByIdOrKey, [id, emailKey]);

export const findCredentials = (db: Db, emailKey: string): Promise<CredentialsRow | undefined> =>
  db.get(selectCredentials, [emailKey]);

/** Oldest first. @param after the last of the page before; undefined for the first page */
export const listAccounts = (
  db: Db,
  after: Pick<AccountRow, 'createdAt' | 'id'> | undefined,
  rowsMax: number,
): Promise<AccountRow[]> => db.all(listPage, [after?.createdAt ?? -1, after?.id ?? '', rowsMax]);

/** Also ends every session. @returns whether the account exists */
export const setPasswordHash = (
  db: Db,
  principal: Principal,
  id: string,
  hash: string,
  now: number,
): Promise<boolean> => change(db, principal, 'account.password_set', id, now, updatePassword, [id, hash, now]);

/** The same password under newer parameters; nothing if it was changed meanwhile. */
export const replacePasswordHash = (db: Db, id: string, from: string, to: string, now: number): Promise<boolean> =>
  change(db, { kind: 'system' }, 'account.password_rehashed', id, now, rehash, [id, from, to]);

/** Also ends every session. @returns false when it was disabled already */
export const disableAccount = (db: Db, principal: Principal, id: string, now: number): Promise<boolean> =>
  change(db, principal, 'account.disabled', id, now, disable, [id, now]);

/** @returns false when it was not disabled */
export const enableAccount = (db: Db, principal: Principal, id: string, now: number): Promise<boolean> =>
  change(db, principal, 'account.enabled', id, now, enable, [id, now]);

/** With all that belongs to it. @returns whether it existed */
export const deleteAccount = (db: Db, principal: Principal, id: string, now: number): Promise<boolean> =>
  change(db, principal, 'account.deleted', id, now, remove, [id]);

async function change(
  db: Db,
  principal: Principal,
  action: AuditAction,
  id: string,
  now: number,
  statement: typeof remove,
  values: readonly (string | number)[],
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if ((await tx.run(statement, values)) === 0) return false;
    await recordEvent(tx, { at: now, principal, action, accountId: id, target: id });
    return true;
  });
}
