/** Keys keep their environment in a backup, a restore, a move and a replay of the deletion journal. */
import assert from 'node:assert/strict';
import type { Db } from '../../../foundation/database/db.ts';
import { claimFirstEnvironment, findFirstEnvironment } from '../../../foundation/database/installation.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, hashOf, keys, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { environmentMistakes } from '../../api-keys/key-prefixes.ts';
import { findKeyStates } from '../../api-keys/state-store.ts';
import { listKeyPrefixes } from '../../api-keys/store.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, journalIn, newBackupFolder, restore } from './backup-kit.ts';
import { changesIn } from './narrowed-keys.ts';

const names = ['live', 'test', 'narrowed'];
const hashes = names.map((name) => hashOf(`acc_ada ${name}`));
const environments = [
  { name: 'live', prefix: 'acme_live' },
  { name: 'test', prefix: 'acme_test' },
];
const settings = { keyPrefix: 'krv', keyPrefixesAccepted: [] };

/** By key: its environment and whether it is disabled, as a verification reads it; undefined if it is not found. */
const statesIn = async (db: Db, isExtended: boolean) =>
  (await findKeyStates(db, hashes, isExtended)).map(
    (state) => state && [state.environment ?? null, state.disabledAt !== null],
  );

async function fill(db: Db): Promise<number> {
  await claimInstallation(db, keys.check, now);
  await claimFirstEnvironment(db, 'live');
  const id = await addAccount(db);
  await addKey(db, id, 'live', { prefix: 'acme_live' });
  await addKey(db, id, 'test', { environment: 'test', prefix: 'acme_test' });
  return (await addKey(db, id, 'narrowed', { environment: 'test' })).id;
}

onEachDatabase('restored keys keep their environment, also those that a replay disables', async ({ db }) => {
  using temp = newBackupFolder();
  const narrowed = await fill(db);
  await backUp(db, temp.backup);
  await changesIn(db, now + 10).change(operator, 'acc_ada', narrowed, { addresses: ['192.0.2.1'] });
  await journalIn(db, temp.folder).catchUp();
  for (const openTarget of Object.values(databases)) {
    await using target = await openTarget();
    const restored = target.db;
    const { replayed } = await restore(restored, temp.backup, { journal: journalIn(restored, temp.folder) });
    assert.deepEqual(replayed, { ...nothingReplayed, apiKeysDisabled: 1 });
    assert.deepEqual(await statesIn(restored, true), [
      [null, false],
      ['test', false],
      ['test', true],
    ]);
    assert.deepEqual(await statesIn(restored, false), [[null, false], undefined, undefined]);
    assert.equal(await findFirstEnvironment(restored), 'live');
    assert.deepEqual(
      (await listKeyPrefixes(restored)).map(({ prefix, environment }) => [prefix, environment]),
      [
        ['acme_live', null],
        ['acme_test', 'test'],
      ],
    );
    assert.deepEqual(await environmentMistakes(restored, { ...settings, environments }), []);
    assert.equal(
      (await environmentMistakes(restored, { ...settings, environments: environments.toReversed() })).length,
      1,
    );
    // Its owner enables the key.
    await changesIn(restored, now + 100_000).change(operator, 'acc_ada', narrowed, { disabled: false });
    assert.deepEqual(await statesIn(restored, true), [
      [null, false],
      ['test', false],
      ['test', false],
    ]);
    assert.deepEqual(await statesIn(restored, false), [[null, false], undefined, undefined]);
  }
});
