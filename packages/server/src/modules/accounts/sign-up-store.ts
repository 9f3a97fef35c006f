/**
 * Rows of sign-ups that wait for their email address to be verified. Such an account has no password of its own, no
 * session and no key, so it gives way to an account of the same email address that is better proven.
 */
import type { Principal } from '../../foundation/principal.ts';
import { recordAccountEventTx, recordEventsTx } from '../audit/audit.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

const isPending = `signed_up_at is not null and unverified_since is not null and password_hash = ''`;
// Under its lock the row is judged again, so a sign-up that is being verified stays.
const displace = sql<{ id: string }>(
  'displace_sign_up',
  `delete from accounts where email_key = $1 and id <> $2 and ${isPending} returning id`,
);
// A code that can still be used keeps its sign-up, however old that is.
const expiredText = `select pk from accounts where signed_up_at <= $1 and ${isPending} and not exists (
  select 1 from one_time_codes c where c.account_pk = accounts.pk and c.expires_at > $2) order by signed_up_at limit $3`;
const deleteExpired = sql<{ id: string }>('delete_expired_sign_ups', {
  sqlite: `delete from accounts where pk in (${expiredText}) returning id`,
  // A sign-up that is being verified is left out; housekeeping does not wait for locks.
  postgres: `delete from accounts where pk in (${expiredText} for update skip locked) returning id`,
});
const endSignUp = sql('end_sign_up', `update accounts set signed_up_at = null where id = $1`);

/**
 * Deletes the pending sign-up that has the email address.
 * @param exceptId an account that keeps it; empty for none
 * @returns whether there was one
 */
export async function displaceSignUpTx(
  tx: Transaction,
  principal: Principal,
  canonicalEmail: string,
  now: number,
  exceptId = '',
): Promise<boolean> {
  const displaced = await tx.get(displace, [canonicalEmail, exceptId]);
  if (!displaced) return false;
  await recordAccountEventTx(tx, principal, 'account.deleted', displaced.id, now, { because: 'sign_up_replaced' });
  return true;
}

/** From then on the account is an invited one: it doesn't expire, and may become an administrator. */
export const endSignUpTx = async (tx: Transaction, id: string): Promise<void> => void (await tx.run(endSignUp, [id]));

/** @param before when they were begun, in milliseconds @returns how many were deleted */
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
