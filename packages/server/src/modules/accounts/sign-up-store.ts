/**
 * Rows of pending sign-ups: accounts with an unverified email address, without a password, sessions and keys. They are
 * deleted when another account gets the email address, and when they expire.
 */
import type { Act, Principal } from '../../foundation/principal.ts';
import { recordAccountEventTx, recordEventsTx } from '../audit/audit.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** Whether a row is a pending sign-up. */
export const isPending = `signed_up_at is not null and unverified_since is not null and password_hash = ''`;
// The condition is checked again under the lock of the row, so a sign-up that is being verified stays.
const displace = sql<{ id: string }>(
  'displace_sign_up',
  `delete from accounts where email_key = $1 and id <> $2 and ${isPending} returning id`,
);
// In the order of the emails, so that two concurrent imports cannot deadlock.
const displaceMany = sql<{ id: string }>('displace_sign_ups', {
  sqlite: `delete from accounts where email_key in (select value from json_each($1)) and ${isPending} returning id`,
  postgres: `delete from accounts where pk in (select pk from accounts
      where email_key = any(array(select json_array_elements_text($1::json))) and ${isPending}
      order by email_key collate "C" for update)
    returning id`,
});
// A sign-up with an unexpired code stays, however old it is.
const expiredText = `select pk from accounts where signed_up_at <= $1 and ${isPending} and not exists (
  select 1 from one_time_codes c where c.account_pk = accounts.pk and c.expires_at > $2) order by signed_up_at limit $3`;
const deleteExpired = sql<{ id: string }>('delete_expired_sign_ups', {
  sqlite: `delete from accounts where pk in (${expiredText}) returning id`,
  // Skips a sign-up that is being verified: housekeeping does not wait for locks.
  postgres: `delete from accounts where pk in (${expiredText} for update skip locked) returning id`,
});
const selectInvited = sql<{ readonly id: string }>(
  'select_invited_account',
  `select id from accounts
   where id = $1 and signed_up_at is null and unverified_since is not null and password_hash = '' and disabled_at is null`,
);
const endSignUp = sql('end_sign_up', `update accounts set signed_up_at = null where id = $1`);

/**
 * Deletes the pending sign-up that has the email address.
 * @param exceptId id of an account that is not deleted; empty for none
 * @returns whether there was one
 */
export async function displaceSignUpTx(
  tx: Transaction,
  { principal, now }: Act,
  canonicalEmail: string,
  exceptId = '',
): Promise<boolean> {
  const displaced = await tx.get(displace, [canonicalEmail, exceptId]);
  if (!displaced) return false;
  const event = { at: now, principal, action: 'account.deleted', accountId: displaced.id } as const;
  await recordAccountEventTx(tx, { ...event, details: { because: 'sign_up_replaced' } });
  return true;
}

/** Deletes the pending sign-ups that have the email addresses. */
export async function displaceSignUpsTx(
  tx: Transaction,
  principal: Principal,
  canonicalEmails: readonly string[],
  now: number,
): Promise<void> {
  const displaced = await tx.all(displaceMany, [JSON.stringify(canonicalEmails)]);
  const event = { at: now, principal, action: 'account.deleted', details: { because: 'sign_up_replaced' } } as const;
  await recordEventsTx(
    tx,
    displaced.map(({ id }) => ({ ...event, accountId: id, target: id })),
  );
}

/** Turns a sign-up into an invitation: the account does not expire, and may become an administrator. */
export const endSignUpTx = async (tx: Transaction, id: string): Promise<void> => void (await tx.run(endSignUp, [id]));

/** Whether the account was invited, has not accepted the invitation, and was not disabled. */
export const isInvited = async (reader: Pick<Reader, 'get'>, id: string): Promise<boolean> =>
  (await reader.get(selectInvited, [id])) !== undefined;

/** @param before deletes sign-ups from before this time, in milliseconds @returns the number of deleted accounts */
export const deleteExpiredSignUps = (db: Db, before: number, now: number, rowsMax: number): Promise<number> =>
  db.transaction(async (tx) => {
    const expired = await tx.all(deleteExpired, [before, now, rowsMax]);
    const event = { at: now, principal: { kind: 'system' }, action: 'account.deleted' } as const;
    const details = { because: 'sign_up_expired' };
    await recordEventsTx(
      tx,
      expired.map(({ id }) => ({ ...event, accountId: id, target: id, details })),
    );
    return expired.length;
  });
