/** Which keys are deleted with their account, if their ids show that the secrets must not come back. */
import type { Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { Act } from '../../foundation/principal.ts';
import { recordEventsTx } from '../audit/audit.ts';

// On PostgreSQL, no other transaction adds a key to a locked account.
const lockAccount = sql('lock_account_to_delete', {
  sqlite: 'select pk from accounts where id = $1',
  postgres: 'select pk from accounts where id = $1 for update',
});
// A key with a given hash has no hint until its first rotation, which increases the revision.
const given = `select id, nickname from api_keys where account_pk = (select pk from accounts where id = $1)
  and (hint is null or revision > 0) and exists (select 1 from installation where keys_imported_at is not null) order by id`;
const selectGiven = sql<{ id: number; nickname: string }>('select_given_keys_of_account', {
  sqlite: given,
  postgres: `${given} for update`,
});

/**
 * Records the deletion of each key of an account that may have a given hash, before the deletion of the account deletes it.
 * Without the events, another account could get such a key again.
 * @returns their ids, in order, for the deletion journal
 */
export async function recordGivenKeysTx(
  tx: Transaction,
  { principal, now: at }: Act,
  accountId: string,
): Promise<number[]> {
  await tx.get(lockAccount, [accountId]);
  const deleted = await tx.all(selectGiven, [accountId]);
  const action = 'api_key.deleted';
  await recordEventsTx(
    tx,
    deleted.map(({ id, nickname }) => ({
      at,
      principal,
      action,
      accountId,
      target: String(id),
      details: { nickname },
    })),
  );
  return deleted.map(({ id }) => id);
}
