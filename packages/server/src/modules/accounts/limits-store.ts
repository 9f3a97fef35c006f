/** Limits of accounts: what all keys of an account may use together. */
import type { Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

const selectLimits = sql<{ limits: string | null }>(
  'select_account_limits',
  `select limits from accounts where id = $1`,
);
const updateLimits = sql('update_account_limits', `update accounts set limits = $2, updated_at = $3 where id = $1`);

/** Canonical JSON; null for none. */
export type LimitsText = string | null;

/** The limits of a locked account. */
export const findLimitsTx = async (tx: Transaction, id: string): Promise<LimitsText> =>
  (await tx.get(selectLimits, [id]))?.limits ?? null;

/** Changes the limits of a locked account. Nothing is stored if they stay the same. */
export async function changeLimitsTx(
  tx: Transaction,
  id: string,
  change: (before: LimitsText) => LimitsText,
  now: number,
): Promise<{ before: LimitsText; after: LimitsText }> {
  const before = await findLimitsTx(tx, id);
  const after = change(before);
  if (before !== after) await tx.run(updateLimits, [id, after, now]);
  return { before, after };
}
