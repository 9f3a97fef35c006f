/** What a replay of the deletion journal removes of passkeys. The caller records the events. */
import type { Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

const removePasskeys = sql('replay_removed_passkeys', onList('delete from passkeys where id in ({ids})'));

/** @param ids of passkeys, which are never used again */
export const removePasskeysTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(removePasskeys, [JSON.stringify(ids)]));
