/** The entitlements of accounts: the scopes in need of one that their keys may have. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface EntitlementsRow {
  /** Separated by spaces; null: none. */
  readonly entitlements: string | null;
  readonly revision: number;
  /** Milliseconds. */
  readonly updatedAt: number;
}

const text = `select entitlements, entitlements_revision as revision, updated_at as "updatedAt" from accounts where id = $1`;
const select = sql<EntitlementsRow>('select_entitlements', text);
const lock = sql<{ id: string }>('lock_entitlements', {
  sqlite: 'select id from accounts where id = $1',
  postgres: 'select id from accounts where id = $1 for update',
});
const update = sql(
  'update_entitlements',
  `update accounts set entitlements = $2, entitlements_revision = $3, updated_at = $4 where id = $1`,
);
const clear = sql(
  'replay_removed_entitlements',
  onList(`update accounts set entitlements = null, entitlements_revision = entitlements_revision + 1, updated_at = $2
    where id in ({ids})`),
);

/** @returns undefined if there is no such account */
export const findEntitlements = (reader: Reader, accountId: string): Promise<EntitlementsRow | undefined> =>
  reader.get(select, [accountId]);

/** Locks the account until the end of the transaction. @returns undefined if there is no such account */
export async function lockEntitlementsTx(tx: Transaction, accountId: string): Promise<EntitlementsRow | undefined> {
  const [, row] = await allInOrder([tx.get(lock, [accountId]), tx.get(select, [accountId])]);
  return row;
}

/** Stores the entitlements of a locked account. */
export const storeEntitlementsTx = async (tx: Transaction, accountId: string, row: EntitlementsRow): Promise<void> =>
  void (await tx.run(update, [accountId, row.entitlements, row.revision, row.updatedAt]));

/** Removes all entitlements of accounts, for a replay of the deletion journal. The caller records the events. */
export const clearEntitlementsTx = async (tx: Transaction, ids: readonly string[], now: number): Promise<void> =>
  void (await tx.run(clear, [JSON.stringify(ids), now]));
