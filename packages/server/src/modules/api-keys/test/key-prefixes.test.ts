/** The table of key prefixes, on each database. */
import assert from 'node:assert/strict';
import { claimFirstEnvironment, findFirstEnvironment } from '../../../foundation/database/installation.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { keyPrefixWarnings } from '../key-prefixes.ts';
import { createKey } from '../new-key.ts';
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
    await createKey(connection, operator, newKey(ada, `key ${rival}`, more), { keysMax: 100 });
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
  const rejected: unknown = await createKey(db, operator, again, { keysMax: 100 }).catch((error: unknown) => error);
  assert.equal(codeOf(rejected), 'nickname_taken');
  assert.deepEqual(await prefixesIn(db), []);
});

onEachDatabase('instances that start simultaneously with different first environments record one', async (opened) => {
  await claimInstallation(opened.db, Buffer.alloc(32), now);
  const rivals = Math.max(rivalsMin, 16);
  await race(opened, rivals, (connection, rival) => claimFirstEnvironment(connection, `env${rival}`));
  const first = await findFirstEnvironment(opened.db);
  assert.match(first ?? '', /^env\d+$/);
  await claimFirstEnvironment(opened.db, 'other');
  assert.equal(await findFirstEnvironment(opened.db), first);
});

onEachDatabase('a recorded prefix that is now reserved is not accepted: its keys must be replaced', async ({ db }) => {
  const ada = await addAccount(db);
  await addKey(db, ada, 'old', { prefix: 'krvt' });
  await addKey(db, ada, 'new', { prefix: 'acme' });
  assert.deepEqual(await keyPrefixWarnings(db, { keyPrefix: 'acme', keyPrefixesAccepted: [], environments: [] }), [
    'krvt was the prefix of new keys earlier, but this version reserves it for other credentials: keys that begin with krvt_ are rejected; replace them',
  ]);
});

onEachDatabase('a prefix is recorded with the environment that used it first', async ({ db }) => {
  const ada = await addAccount(db);
  await addKey(db, ada, 'live', { prefix: 'acme' });
  await addKey(db, ada, 'test', { prefix: 'acme_test', environment: 'test' });
  await addKey(db, ada, 'other', { prefix: 'acme', environment: 'other' });
  const recorded = (await store.listKeyPrefixes(db)).map((row) => ({ ...row }));
  assert.deepEqual(recorded, [
    { prefix: 'acme', environment: null },
    { prefix: 'acme_test', environment: 'test' },
  ]);
  const base = { keyPrefix: 'acme', keyPrefixesAccepted: ['acme_test'] };
  const live = { name: 'live', prefix: 'acme' };
  const inTest = { name: 'test', prefix: 'acme_test' };
  assert.deepEqual(await keyPrefixWarnings(db, { ...base, keyPrefixesAccepted: [], environments: [live, inTest] }), []);
  assert.deepEqual(await keyPrefixWarnings(db, { ...base, environments: [live] }), [
    'KEYREEVE_ENVIRONMENTS does not list test: its keys, which begin with acme_test_, are rejected',
  ]);
  const renewed = [live, { name: 'test', prefix: 'sandbox' }];
  assert.deepEqual(await keyPrefixWarnings(db, { ...base, environments: renewed }), []);
  assert.deepEqual(await keyPrefixWarnings(db, { ...base, keyPrefixesAccepted: [], environments: renewed }), [
    'KEYREEVE_KEY_PREFIXES_ACCEPTED does not list acme_test, which was the prefix of new keys earlier: keys that begin with acme_test_ are rejected; add acme_test to it',
  ]);
});
