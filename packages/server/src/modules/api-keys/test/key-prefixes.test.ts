/** The table of key prefixes, on each database. */
import assert from 'node:assert/strict';
import * as store from '../store.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { addAccount, addKey, hashOf, newKey, now, operator } from '../../../../test-kit/rows.ts';

const prefixesIn = async (db: Db): Promise<string[]> => (await store.listKeyPrefixes(db)).map(({ prefix }) => prefix);

onEachDatabase('concurrent creations record a prefix once', async (opened) => {
  const { db } = opened;
  const ada = await addAccount(db);
  const rivals = Math.max(rivalsMin, 16);
  const settled = await race(opened, rivals, async (connection, rival) => {
    const more = { id: rival + 1, hash: hashOf(`rival ${rival}`), prefix: 'krv' };
    await store.createKey(connection, operator, newKey(ada, `key ${rival}`, more), 100, undefined);
    return 'created';
  });
  assert.deepEqual(outcomes(settled), { created: rivals });
  assert.deepEqual(await prefixesIn(db), ['krv']);
  await addKey(db, ada, 'other', { prefix: 'acme' });
  assert.deepEqual(await prefixesIn(db), ['acme', 'krv']);
});

onEachDatabase('a rejected creation records no prefix', async ({ db }) => {
  const ada = await addAccount(db);
  await addKey(db, ada, 'taken');
  const again = newKey(ada, 'taken', { id: 2, hash: hashOf('again'), prefix: 'krv' });
  const rejected: unknown = await store.createKey(db, operator, again, 100, undefined).catch((error: unknown) => error);
  assert.equal(codeOf(rejected), 'nickname_taken');
  assert.deepEqual(await prefixesIn(db), []);
});

onEachDatabase('the prefix of keys without a recorded prefix is recorded once', async ({ db }) => {
  const ada = await addAccount(db);
  await store.recordEarlierPrefix(db, 'krv', now);
  assert.deepEqual(await prefixesIn(db), [], 'there are no keys');
  await addKey(db, ada, 'old');
  await store.recordEarlierPrefix(db, 'krv', now);
  await store.recordEarlierPrefix(db, 'acme', now);
  assert.deepEqual(await prefixesIn(db), ['krv']);
});
