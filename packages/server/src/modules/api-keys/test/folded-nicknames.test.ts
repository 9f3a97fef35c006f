/** Nicknames that an earlier program has stored, and the index of nicknames. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { fold } from '../../../foundation/fold.ts';
import { insertKeys } from '../../../../test-kit/many-rows.ts';
import { addAccount, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { deleteKeysTx } from '../bulk-store.ts';
import { foldNicknames } from '../folded-nicknames.ts';
import { findNamed, storeFolded } from '../name-store.ts';
import { findOwnedKeys } from '../owned-keys.ts';

// As earlier programs do it.
const forget = sql('test_forget_folded', 'update api_keys set folded = null where id <= $1');
const rename = sql('test_rename', 'update api_keys set nickname = $2 where id = $1');
const selectFolded = sql<{ folded: string | null }>('test_folded', 'select folded from api_keys order by id');

const foldedOf = async (db: Db): Promise<(string | null)[]> => (await db.all(selectFolded)).map(({ folded }) => folded);

/** Folds and indexes all nicknames. @returns the number of pages */
async function foldAll(db: Db): Promise<number> {
  let pages = 1;
  while (await foldNicknames(db)) pages++;
  return pages;
}

const found = async (db: Db, nickname: string): Promise<number[]> =>
  (await findOwnedKeys(db, { nickname })).rows.map(({ id }) => id);
/** Those of the index alone, without the other condition. */
const indexed = async (db: Db, text: string): Promise<readonly number[]> =>
  (await findNamed(db, fold(text), 0, limits.adminRowsPerPageMax))?.ids ?? [];

onEachDatabase('nicknames of an earlier program are folded in pages, and are found before that', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  const count = 1_200;
  const keys = Array.from({ length: count }, (_, n) => ({ id: n + 1, nickname: `Ключ ${n + 1} Key`, createdAt: now }));
  await insertKeys(db, ada, keys);
  await db.transaction((tx) => tx.run(forget, [count - 1]));
  assert.deepEqual(await found(db, '1100 kEY'), [1_100]);
  assert.equal(await foldAll(db), 3);
  assert.deepEqual(
    await foldedOf(db),
    keys.map(({ nickname }) => fold(nickname)),
  );
  assert.deepEqual(await found(db, 'КЛЮЧ 1100'), [1_100]);
  assert.equal(await foldNicknames(db), false);
});

onEachDatabase(
  'an earlier program that renames a key does not leave the folded form of its old nickname',
  async ({ db }) => {
    const ada = await addAccount(db, 'ada');
    await insertKeys(db, ada, [{ id: 1, nickname: 'Старый', createdAt: now }]);
    await foldAll(db);
    await db.transaction((tx) => tx.run(rename, [1, 'Новый']));
    assert.deepEqual(await foldedOf(db), [null]);
    // Another instance read the old nickname before the change.
    await storeFolded(db, [{ id: 1, nickname: 'Старый', folded: 'старый' }]);
    assert.deepEqual(await foldedOf(db), [null]);
    await foldAll(db);
    assert.deepEqual(await foldedOf(db), ['новый']);
    assert.deepEqual([await found(db, 'НОВЫЙ'), await found(db, 'СТАРЫЙ')], [[1], []]);
  },
);

onEachDatabase('the index follows each creation, rename and deletion, in any order', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  const insert = (id: number, nickname: string) => insertKeys(db, ada, [{ id, nickname, createdAt: now }]);
  const remove = (id: number) => db.transaction((tx) => deleteKeysTx(tx, [String(id)]));
  const change = (id: number, nickname: string) => db.transaction((tx) => tx.run(rename, [id, nickname]));
  await insert(1, 'alpha');
  await insert(2, 'alphabet');
  await insert(3, 'beta');
  assert.deepEqual(await found(db, 'ALPHA'), [1, 2]);
  await foldAll(db);
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
  await foldAll(db);
  for (const [text, expected] of [
    ['alpha', []],
    ['gamma', []],
    ['epsilon', []],
    ['delta', [2]],
    ['beta', [3]],
  ] as const)
    assert.deepEqual(await indexed(db, text), expected, text);
});
