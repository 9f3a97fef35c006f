/**
 * The end of all sessions of an account. A session is valid only while it carries the `session_epoch` that its account
 * has now. Raising the epoch therefore ends every session, also one that is being created at the same time.
 */
import type { Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

const raise = sql(
  'raise_session_epoch',
  `update accounts set session_epoch = session_epoch + 1, updated_at = coalesce($2, updated_at) where id = $1`,
);
const raiseAll = sql('raise_all_session_epochs', `update accounts set session_epoch = session_epoch + 1`);

/**
 * @param updatedAt the account's new time of last change, in milliseconds; null leaves it as it is
 * @returns whether the account exists
 */
export const endSessionsTx = async (tx: Transaction, id: string, updatedAt: number | null = null): Promise<boolean> =>
  (await tx.run(raise, [id, updatedAt])) === 1;

/** Ends the sessions of all accounts: after a restore, and after a replay of the deletion journal. */
export const endAllSessionsTx = async (tx: Transaction): Promise<void> => void (await tx.run(raiseAll));
