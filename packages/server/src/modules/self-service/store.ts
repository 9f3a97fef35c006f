/**
 * Rows that an account's life changes together. Whatever rests on an account locks its row first, and its codes and keys
 * under that lock: of any number of rivals each sees what the one before it has left.
 */
import type { Principal } from '../../foundation/principal.ts';
import { recordEvent, type AuditAction, type AuditEvent } from '../audit/audit.ts';
import { displaceSignUpTx } from '../accounts/sign-up-store.ts';
import { credentialsColumns, type CredentialsRow } from '../accounts/store.ts';
import { findCode, takeCode, type CodePurpose, type CodeRow } from '../one-time-codes/store.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { isUniqueViolation } from '../../foundation/database/unavailable.ts';
import { DomainError } from '../../foundation/errors.ts';

/** An account with what only it itself is told. */
export interface OwnRow extends CredentialsRow {
  readonly hasSecondFactor: number;
}

const byId = `select ${credentialsColumns} from accounts where id = $1`;
const byKey = `select ${credentialsColumns} from accounts where email_key = $1`;
const lockById = sql<CredentialsRow>('lock_account', { sqlite: byId, postgres: `${byId} for update` });
const lockByKey = sql<CredentialsRow>('lock_account_by_email', { sqlite: byKey, postgres: `${byKey} for update` });
const selectOwn = sql<OwnRow>(
  'select_own_account',
  `select ${credentialsColumns}, (select count(*) from second_factors f
     where f.account_pk = accounts.pk and f.confirmed_at is not null) as "hasSecondFactor"
   from accounts where id = $1`,
);
// Every session carries the epoch that the account had when it began: raising it ends them all.
const updatePassword = sql(
  'set_account_password',
  `update accounts set password_hash = $2, unverified_since = null, signed_up_at = null, session_epoch = session_epoch + 1, updated_at = $3
   where id = $1`,
);
const updatePasswordFrom = sql(
  'change_account_password',
  `update accounts set password_hash = $3, session_epoch = session_epoch + 1, updated_at = $4
   where id = $1 and session_epoch = $2`,
);
const updateEmail = sql(
  'change_account_email',
  `update accounts set email = $2, email_key = $3, unverified_since = null, signed_up_at = null,
     email_unconfirmed_since = null,
     session_epoch = session_epoch + 1, updated_at = $4
   where id = $1 and not exists (select 1 from accounts other where other.email_key = $3 and other.id <> $1)`,
);
const voidPassword = sql('void_password', `update accounts set password_hash = '', updated_at = $2 where id = $1`);
const keepSession = sql(
  'keep_session',
  `update sessions set account_epoch = (select session_epoch from accounts where accounts.pk = sessions.account_pk)
   where id = $1 and account_pk = (select pk from accounts where id = $2)`,
);
const selectSignUp = sql<{ passwordHash: string }>(
  'select_newest_sign_up',
  `select password_hash as "passwordHash" from one_time_codes
   where account_pk = (select pk from accounts where id = $1) and purpose = 'verify_email' and password_hash is not null
   order by created_at desc, code_hash limit 1`,
);
const selectTaken = sql<{ id: string }>(
  'select_other_account_by_email',
  `select id from accounts where email_key = $1 and id <> $2
     and not (signed_up_at is not null and unverified_since is not null and password_hash = '')`,
);

export const findOwnAccount = (reader: Pick<Reader, 'get'>, id: string): Promise<OwnRow | undefined> =>
  reader.get(selectOwn, [id]);

export const lockAccount = (tx: Transaction, id: string): Promise<CredentialsRow | undefined> => tx.get(lockById, [id]);

export const lockAccountByEmail = (tx: Transaction, canonicalEmail: string): Promise<CredentialsRow | undefined> =>
  tx.get(lockByKey, [canonicalEmail]);

/** The password of the newest sign-up whose code is still kept. */
export const newestSignUpHash = async (tx: Transaction, accountId: string): Promise<string | undefined> =>
  (await tx.get(selectSignUp, [accountId]))?.passwordHash;

/** Whether another account has the email address. A pending sign-up doesn't count: it gives way. */
export const isEmailTaken = async (tx: Transaction, canonicalEmail: string, accountId: string): Promise<boolean> =>
  (await tx.get(selectTaken, [canonicalEmail, accountId])) !== undefined;

/** A code that was good for its purpose when it was looked at, and the account that it was sent for. */
export interface KnownCode {
  readonly hash: Buffer;
  readonly row: CodeRow;
  readonly account: CredentialsRow;
}

/** Looks at it and leaves it. @throws DomainError `code_invalid` */
export async function findKnownCode(
  db: Db,
  hash: Buffer | undefined,
  purpose: CodePurpose,
  now: number,
): Promise<KnownCode> {
  const row = hash && (await findCode(db, hash, purpose, now));
  const account = row?.accountId ? await db.get(selectOwn, [row.accountId]) : undefined;
  if (!hash || !row || !account || !mayUse(account, purpose)) throw new DomainError('code_invalid');
  return { hash, row, account };
}

/** An administrator may disable an account while its owner confirms another email address. */
const mayUse = ({ disabledAt }: CredentialsRow, purpose: CodePurpose): boolean =>
  disabledAt === null || purpose === 'set_email';

/**
 * Takes a code under the lock of its account: of any number of rivals one gets it.
 * @throws DomainError `code_invalid` when it was used meanwhile, or the account has gone or was disabled
 */
export async function takeKnownCode(
  tx: Transaction,
  { hash, account }: KnownCode,
  purpose: CodePurpose,
  now: number,
): Promise<CredentialsRow> {
  const locked = await lockAccount(tx, account.id);
  const taken = locked && (await takeCode(tx, hash, purpose, now));
  if (!locked || !taken || !mayUse(locked, purpose)) throw new DomainError('code_invalid');
  return locked;
}

/** Also ends every session, and counts the email as verified: by whoever has a code that was sent there. */
export async function setVerifiedPassword(tx: Transaction, id: string, hash: string, now: number): Promise<void> {
  await tx.run(updatePassword, [id, hash, now]);
}

/** Also ends every session. @returns false when the password was set anew since it had that epoch */
export const changePasswordHash = async (
  tx: Transaction,
  { id, sessionEpoch }: CredentialsRow,
  hash: string,
  now: number,
): Promise<boolean> => (await tx.run(updatePasswordFrom, [id, sessionEpoch, hash, now])) === 1;

/** The session goes on, although the account's have been ended in this transaction. */
export async function keepSessionAlive(tx: Transaction, accountId: string, sessionId: string): Promise<void> {
  await tx.run(keepSession, [sessionId, accountId]);
}

/**
 * Also ends every session, and counts the email address as verified. A pending sign-up of that address gives way.
 * @returns false when another account has it
 */
export async function setEmail(
  tx: Transaction,
  principal: Principal,
  id: string,
  email: { readonly address: string; readonly key: string },
  now: number,
): Promise<boolean> {
  await displaceSignUpTx(tx, principal, email.key, now, id);
  return (await tx.run(updateEmail, [id, email.address, email.key, now])) === 1;
}

/** Of two that take the same address at once, the unique index refuses one. */
export function refuseTaken(error: unknown): never {
  throw isUniqueViolation(error) ? new DomainError('account_exists') : error;
}

/** Until a reset nobody signs in with a password. The sessions are ended by what goes with it. */
export const voidPasswordTx = async (tx: Transaction, id: string, now: number): Promise<void> =>
  void (await tx.run(voidPassword, [id, now]));

/** What happened to an account, as its own target. */
export const recordOf = (
  tx: Transaction,
  principal: Principal,
  action: AuditAction,
  id: string,
  now: number,
  details?: NonNullable<AuditEvent['details']>,
): Promise<void> =>
  recordEvent(tx, { at: now, principal, action, accountId: id, target: id, ...(details ? { details } : {}) });
