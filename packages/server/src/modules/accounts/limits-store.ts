/** Limits of accounts: what all keys of an account may use together. */
import type { Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

const selectLimits = sql<{ limits: string | null }>(
  'select_account_limits',
  `select limits from accounts where id = $1`,
);
const updateLimits = sql('update_account_limits', `update accounts set limits = $2, updated_at = $3 where id = $1`);

/**
 * Replaces the limits of a locked account. Nothing is stored if they stay the same.
 * @param limits canonical JSON; null for none
 * @returns the previous limits
 */
export async function replaceLimitsTx(
  tx: Transaction,
  id: string,
  limits: string | null,
  now: number,
): Promise<string | null> {
  const previous = (await tx.get(selectLimits, [id]))?.limits ?? null;
  if (previous !== limits) await tx.run(updateLimits, [id, limits, now]);
  return previous;
}
