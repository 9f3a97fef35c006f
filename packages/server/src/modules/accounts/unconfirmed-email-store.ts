/** Email addresses that a restore brought back although they had been changed. Until an operator confirms them, no password reset is sent there. */
import type { Principal } from '../../foundation/principal.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { Db, Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

const list = sql<{ id: string }>(
  'list_unconfirmed_emails',
  `select id from accounts where email_unconfirmed_since is not null order by id limit $1`,
);
const confirm = sql(
  'confirm_account_email',
  `update accounts set email_unconfirmed_since = null, updated_at = $2
   where id = $1 and email_unconfirmed_since is not null`,
);

/** @returns ids of accounts, at most `max` */
export const listUnconfirmedEmails = async (reader: Reader, max: number): Promise<readonly string[]> =>
  (await reader.all(list, [max])).map(({ id }) => id);

/** @returns false when there was nothing to confirm */
export const confirmAccountEmail = (db: Db, principal: Principal, id: string, now: number): Promise<boolean> =>
  db.transaction(async (tx) => {
    if ((await tx.run(confirm, [id, now])) === 0) return false;
    await recordAccountEventTx(tx, { at: now, principal, action: 'account.email_confirmed', accountId: id });
    return true;
  });
