/** What a replay of the deletion journal removes of identities at the OpenID provider. The caller records the events. */
import type { Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

const remove = sql('replay_unlinked_identities', onList('delete from sso_identities where id in ({ids})'));

/** @param ids of identities, which are never used again */
export const unlinkIdentitiesTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(remove, [JSON.stringify(ids)]));
