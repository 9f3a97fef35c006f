/** The deletion of an API key by its owner or an administrator, which the writer thread of SQLite runs (`procedures.ts`). */
import type { Act } from '../../foundation/principal.ts';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import { recordEventTx } from '../audit/audit.ts';
import { assertMayActForTx } from '../service-accounts/acting.ts';
import { hasReserved } from './list-store.ts';

const deletion = (
  dialect: Dialect,
  hidesReserved: string,
): string => `delete from api_keys as k where k.id = $1 and k.account_pk = (select pk from accounts where id = $2)
     and (${hidesReserved} = 0 or not ${hasReserved(dialect)}) returning nickname`;
const deleteOwnKey = sql<{ nickname: string }>('delete_api_key', {
  sqlite: deletion('sqlite', '$3'),
  postgres: deletion('postgres', '$3::bigint'),
});
const selectOwner = sql<{ accountId: string }>(
  'select_api_key_owner',
  `select a.id as "accountId" from api_keys k join accounts a on a.pk = k.account_pk where k.id = $1`,
);

/**
 * @throws DomainError `invalid_access_token`; `not_key_owner` when the key is another account's, `key_not_found` when no
 *   key has the id
 */
export const deleteKeyTx = async (tx: Transaction, act: Act, accountId: string, id: number): Promise<void> =>
  void (await allInOrder([
    assertMayActForTx(tx, act.principal, accountId, act.now),
    finishDeletionTx(tx, act, accountId, id),
  ]));

/**
 * Repeats a deletion that was allowed and whose outcome is unknown. The statements are sent together. The owner of the key,
 * which decides the error, is read after the deletion.
 * @throws DomainError `not_key_owner`, `key_not_found`; nothing is recorded then
 */
export async function finishDeletionTx(
  tx: Transaction,
  { principal, now }: Act,
  accountId: string,
  id: number,
): Promise<void> {
  // For a portal session, a key with a reserved scope does not exist.
  const deleted = tx.get(deleteOwnKey, [id, accountId, principal.kind === 'portal' ? 1 : 0]);
  const otherOwner = tx.get(selectOwner, [id]);
  const details = allInOrder([deleted, otherOwner]).then(([key, owner]) => {
    if (!key) throw new DomainError(owner && principal.kind !== 'portal' ? 'not_key_owner' : 'key_not_found');
    return { nickname: key.nickname };
  });
  await recordEventTx(tx, { at: now, principal, action: 'api_key.deleted', accountId, target: String(id), details });
}
