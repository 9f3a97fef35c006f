/**
 * Rows of accounts: the password and the email address that an account signs in with. Each change ends all sessions of
 * the account. Other modules lock the account's row first, and then change what belongs to the account: of several
 * concurrent requests, each sees what the one before it has committed.
 */
import type { Act, Principal } from '../../foundation/principal.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { Email } from './email.ts';
import { endSessionsTx } from './session-epoch-store.ts';
import { displaceSignUpTx } from './sign-up-store.ts';
import { credentialsColumns, type CredentialsRow } from './store.ts';

const byId = `select ${credentialsColumns} from accounts where id = $1`;
const byKey = `select ${credentialsColumns} from accounts where email_key = $1`;
const lockById = sql<CredentialsRow>('lock_account', { sqlite: byId, postgres: `${byId} for update` });
const lockByKey = sql<CredentialsRow>('lock_account_by_email', { sqlite: byKey, postgres: `${byKey} for update` });
const updatePassword = sql(
  'set_account_password',
  `update accounts set password_hash = $2, updated_at = $3 where id = $1 and ($4 < 0 or session_epoch = $4)`,
);
const updateVerifiedPassword = sql(
  'set_verified_account_password',
  `update accounts set password_hash = $2, unverified_since = null, signed_up_at = null, updated_at = $3 where id = $1`,
);
const rehash = sql(
  'rehash_account_password',
  `update accounts set password_hash = $3 where id = $1 and password_hash = $2`,
);
const updateEmail = sql(
  'change_account_email',
  `update accounts set email = $2, email_key = $3, unverified_since = null, signed_up_at = null,
     email_unconfirmed_since = null, updated_at = $4
   where id = $1 and not exists (select 1 from accounts other where other.email_key = $3 and other.id <> $1)`,
);
const selectTaken = sql<{ id: string }>(
  'select_other_account_by_email',
  `select id from accounts where email_key = $1 and id <> $2
     and not (signed_up_at is not null and unverified_since is not null and password_hash = '')`,
);

export const lockAccountTx = (tx: Transaction, id: string): Promise<CredentialsRow | undefined> =>
  tx.get(lockById, [id]);

export const lockAccountByEmailTx = (tx: Transaction, canonicalEmail: string): Promise<CredentialsRow | undefined> =>
  tx.get(lockByKey, [canonicalEmail]);

/**
 * @param account with an epoch, sets the password only while the account has this session epoch
 * @returns false when there is no such account, or its sessions have been ended since
 */
export async function setPasswordTx(
  tx: Transaction,
  { id, sessionEpoch = -1 }: { readonly id: string; readonly sessionEpoch?: number | undefined },
  hash: string,
  now: number,
): Promise<boolean> {
  if ((await tx.run(updatePassword, [id, hash, now, sessionEpoch])) === 0) return false;
  return endSessionsTx(tx, id);
}

/** Until a reset no password matches. Otherwise as {@link setPasswordTx}. */
export const voidPasswordTx = (tx: Transaction, id: string, now: number, epoch?: number): Promise<boolean> =>
  setPasswordTx(tx, { id, sessionEpoch: epoch }, '', now);

/** Also records the email address as verified: the caller has checked a code that was sent there. */
export async function setVerifiedPasswordTx(tx: Transaction, id: string, hash: string, now: number): Promise<void> {
  await tx.run(updateVerifiedPassword, [id, hash, now]);
  await endSessionsTx(tx, id);
}

/** @param andThen runs in the same transaction @returns whether the account exists */
export const setPasswordHash = (
  db: Db,
  principal: Principal,
  { id, hash, now }: { readonly id: string; readonly hash: string; readonly now: number },
  andThen?: (tx: Transaction) => Promise<void>,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await setPasswordTx(tx, { id }, hash, now))) return false;
    await recordAccountEventTx(tx, { at: now, principal, action: 'account.password_set', accountId: id });
    await andThen?.(tx);
    return true;
  });

/** Stores the same password under newer parameters. Ends no session. @returns false when the hash has changed since */
export const replacePasswordHash = (
  db: Db,
  { id, passwordHash }: Pick<CredentialsRow, 'id' | 'passwordHash'>,
  newHash: string,
  now: number,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    if ((await tx.run(rehash, [id, passwordHash, newHash])) === 0) return false;
    const principal = { kind: 'system' } as const;
    await recordAccountEventTx(tx, { at: now, principal, action: 'account.password_rehashed', accountId: id });
    return true;
  });

/** Whether another account has the email address. A pending sign-up does not count: it is deleted when needed. */
export const isEmailTakenTx = async (tx: Transaction, canonicalEmail: string, accountId: string): Promise<boolean> =>
  (await tx.get(selectTaken, [canonicalEmail, accountId])) !== undefined;

/**
 * Also records the email address as verified. Deletes a pending sign-up of that address.
 * @returns false when another account has it
 */
export async function setEmailTx(tx: Transaction, act: Act, id: string, email: Email): Promise<boolean> {
  await displaceSignUpTx(tx, act, email.canonicalEmail, id);
  if ((await tx.run(updateEmail, [id, email.email, email.canonicalEmail, act.now])) === 0) return false;
  return endSessionsTx(tx, id);
}
