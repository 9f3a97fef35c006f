/** Email addresses that a restore has brought back although they had been changed: until they are confirmed, no password reset is sent there. */
import { recordEvent, type Principal } from '../../audit/audit.ts';
import type { Db } from '../../db/db.ts';
import { sql } from '../../db/sql.ts';

const confirm = sql(
  'confirm_account_email',
  `update accounts set email_unconfirmed_since = null, updated_at = $2
   where id = $1 and email_unconfirmed_since is not null`,
);

/** @returns false when nothing was to be confirmed */
export const confirmAccountEmail = (db: Db, principal: Principal, id: string, now: number): Promise<boolean> =>
  db.transaction(async (tx) => {
    if ((await tx.run(confirm, [id, now])) === 0) return false;
    await recordEvent(tx, { at: now, principal, action: 'account.email_confirmed', accountId: id, target: id });
    return true;
  });
