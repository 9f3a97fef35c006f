/** The index of nicknames. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { fold } from '../../../foundation/fold.ts';
import { insertKeys } from '../../../../test-kit/many-rows.ts';
import { addAccount, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { deleteKeysTx } from '../bulk-store.ts';
import { findNamed, indexNames } from '../name-store.ts';
import { findOwnedKeys } from '../owned-keys.ts';

const rename = sql('test_rename', 'update api_keys set nickname = $2, folded = $3 where id = $1');

async function indexAll(db: Db): Promise<void> {
  while (await indexNames(db));
}

const found = async (db: Db, nickname: string): Promise<number[]> =>
  (await findOwnedKeys(db, { nickname })).rows.map(({ id }) => id);
/** Those of the index alone, without the other condition. */
const indexed = async (db: Db, text: string): Promise<readonly number[]> =>
  (await findNamed(db, fold(text), 0, limits.adminRowsPerPageMax))?.ids ?? [];

onEachDatabase('the index follows each creation, rename and deletion, in any order', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  const insert = (id: number, nickname: string) => insertKeys(db, ada, [{ id, nickname, createdAt: now }]);
  const remove = (id: number) => db.transaction((tx) => deleteKeysTx(tx, [String(id)]));
  const change = (id: number, nickname: string) =>
    db.transaction((tx) => tx.run(rename, [id, nickname, fold(nickname)]));
  await insert(1, 'alpha');
  await insert(2, 'alphabet');
  await insert(3, 'beta');
  assert.deepEqual(await found(db, 'ALPHA'), [1, 2]);
  await indexAll(db);
  assert.deepEqual([await indexed(db, 'alpha'), await indexed(db, 'beta')], [[1, 2], [3]]);
  await remove(1);
  await change(2, 'gamma');
  await change(2, 'delta');
  await insert(4, 'epsilon');
  await remove(4);
  assert.deepEqual([await found(db, 'alpha'), await found(db, 'delta'), await found(db, 'epsilon')], [[], [2], []]);
  // A restore inserts the same keys again.
  await remove(3);
  await insert(3, 'beta');
  await indexAll(db);
  for (const [text, expected] of [
    ['alpha', []],
    ['gamma', []],
    ['epsilon', []],
    ['delta', [2]],
    ['beta', [3]],
  ] as const)
    assert.deepEqual(await indexed(db, text), expected, text);
});
