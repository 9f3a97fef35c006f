/** Root keys of installations: creation, and the master keys that do not open them. */
import assert from 'node:assert/strict';
import { ConfigError, readConfig } from '../configuration/config.ts';
import { findRootKeys } from '../key-files/installation-keys.ts';
import { openInstallation } from '../installation/installation.ts';
import { databaseUrl } from '../configuration/config-values.ts';
import { systemClock } from '../../foundation/clock.ts';
import { deriveKeys } from '../../foundation/crypto/master-key.ts';
import { RootKeys } from '../../foundation/crypto/root-key.ts';
import { openDatabase } from '../../foundation/database/database.ts';
import type { Db, Reader } from '../../foundation/database/db.ts';
import { replaceCheckTx } from '../../foundation/database/installation.ts';
import { insertRootKeyTx, listRootKeys, replaceRootKeysTx } from '../../foundation/database/root-keys.ts';
import { sql } from '../../foundation/database/sql.ts';
import { newPlace, testKeys, type DatabasePlace } from '../../../test-kit/new-db.ts';
import { openTogether } from './open-together.ts';
import { test, testOnBoth } from '../../../test-kit/app-on-each-database.ts';

const masterKey = Buffer.alloc(32, 5);
const otherKey = Buffer.alloc(32, 6);
const settings = (place: DatabasePlace, key: Buffer = masterKey) =>
  readConfig({ ...place.environment, KEYREEVE_MASTER_KEY: key.toString('base64url') });
const open = (place: DatabasePlace, key: Buffer = masterKey) =>
  openInstallation(settings(place, key), { clock: systemClock, mayCreate: true });

async function withDb<T>({ url }: DatabasePlace, run: (db: Db) => Promise<T>): Promise<T> {
  const db = await openDatabase(databaseUrl(url), testKeys.auditChain);
  try {
    return await run(db);
  } finally {
    await db.close();
  }
}

const deleteRootKeys = sql('test_delete_root_keys', 'delete from root_keys');
const damageRootKeys = sql('test_damage_root_keys', 'update root_keys set generation = 2');

async function rejects(place: DatabasePlace, key: Buffer, expected: RegExp): Promise<void> {
  await assert.rejects(open(place, key), (error) => {
    assert.ok(error instanceof ConfigError, String(error));
    assert.match(error.mistakes.join(), expected);
    return true;
  });
}

test('a new installation derives its keys from a random root key, which its master key opens', async () => {
  await using place = await newPlace();
  const first = await open(place);
  await first.db.close();
  const again = await open(place);
  await again.db.close();
  assert.deepEqual(again.rootKeys.newest, first.rootKeys.newest);
  assert.deepEqual(again.keys.check, first.keys.check);
  assert.notDeepEqual(first.keys.check, deriveKeys(masterKey).check);
  assert.equal(first.rootKeys.newest.equals(masterKey), false);
  await rejects(
    place,
    otherKey,
    /^the master key is not that of the database .+ \(its id is [0-9a-f]{16}, and the database needs [0-9a-f]{16}\)/,
  );
});

testOnBoth('16 concurrent starts create one root key', async () => {
  await using place = await newPlace();
  using together = openTogether(16);
  const started = await Promise.allSettled(Array.from({ length: together.count }, () => open(place)));
  const opened = started.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  await Promise.all(opened.map(({ db }) => db.close()));
  assert.deepEqual(
    started.filter((one) => one.status === 'rejected').map(({ reason }) => String(reason)),
    [],
  );
  assert.equal(new Set(opened.map(({ keys }) => keys.check.toString('hex'))).size, 1);
  assert.equal((await withDb(place, listRootKeys)).length, 1);
});

test('lost, damaged or foreign root keys are an error, and never a new root key', async () => {
  await using place = await newPlace();
  await (await open(place)).db.close();
  const [row] = await withDb(place, listRootKeys);
  await withDb(place, (db) => db.transaction((tx) => tx.run(damageRootKeys)));
  await rejects(place, masterKey, /is damaged: version 1 of the root key is damaged or was edited; restore a backup/);
  await withDb(place, (db) => db.transaction((tx) => tx.run(deleteRootKeys)));
  await rejects(place, masterKey, /^the master key is not that of the database/);
  assert.deepEqual(await withDb(place, listRootKeys), []);
  const [foreign] = RootKeys.create(masterKey, 0).rows;
  await withDb(place, (db) => db.transaction((tx) => insertRootKeyTx(tx, foreign!)));
  await rejects(place, masterKey, /is damaged: its root key is of another installation/);
  await withDb(place, (db) => db.transaction((tx) => tx.run(deleteRootKeys)));
  await withDb(place, (db) => db.transaction((tx) => insertRootKeyTx(tx, row!)));
  await (await open(place)).db.close();
});

testOnBoth(
  'a process that reads the check before a rotation of the root key and the rows after it opens the new root key',
  async () => {
    await using place = await newPlace();
    const { db: first, keys, rootKeys } = await open(place);
    await first.close();
    const next = rootKeys.rotate(masterKey);
    await withDb(place, async (db) => {
      let reads = 0;
      const overtaken: Reader = {
        get: (...args) => db.get(...args),
        all: async (...args) => {
          if (reads++ === 0)
            await db.transaction(async (tx) => {
              await replaceRootKeysTx(tx, next.rows);
              assert.ok(await replaceCheckTx(tx, keys.check, deriveKeys(next.newest).check));
            });
          return db.all(...args);
        },
      };
      const found = await findRootKeys(overtaken, masterKey, 'here');
      assert.deepEqual(found?.newest, next.newest);
      assert.ok(reads > 0);
    });
  },
);
