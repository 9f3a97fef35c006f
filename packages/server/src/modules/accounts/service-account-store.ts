/** Rows of service accounts among the accounts. */
import type { Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

// The email address is the id. It equals no email address, because it has no "@". No password matches the empty hash.
const insert = sql(
  'insert_service_account_row',
  `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at, kind)
   values ($1, $1, $1, '', 'user', 0, $2, $2, 'service')`,
);

/** Adds the account of a service account. The caller records the event. */
export const insertServiceAccountTx = async (tx: Transaction, id: string, now: number): Promise<void> =>
  void (await tx.run(insert, [id, now]));
