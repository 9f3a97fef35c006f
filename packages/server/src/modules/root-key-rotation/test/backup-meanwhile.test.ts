/** A rotation of the root key that commits while a backup or a restore runs. */
import assert from 'node:assert/strict';
import { readdirSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { operator } from '../../../../test-kit/new-app.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { findMasterKey } from '../../../app/installation/installation.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { newestSchema } from '../../../foundation/database/migrate.ts';
import { newestRootKeyVersion } from '../../../foundation/database/root-keys.ts';
import { rootKeysOfBackup } from '../../backup/backup-keys.ts';
import { BackupError } from '../../backup/format.ts';
import { verifyBackup } from '../../backup/read-backup.ts';
import { restoreBackup } from '../../backup/restore.ts';
import { sendBackup, writeBackup } from '../../backup/write-backup.ts';
import { newRotatable } from './rotation-kit.ts';

/** An installation with a session, an empty folder, and the connection of a command that a rotation overtakes. */
async function newFixture() {
  await using started = new AsyncDisposableStack();
  const installation = started.use(await newRotatable());
  const folder = started.use(newTempFolder());
  await installation.run((app) => app.signIn());
  const { db, keys } = started.use(await installation.open());
  const { clock } = installation;
  const assertNotWritten = async (path: string, reason: string, from: Db = db): Promise<void> => {
    await assert.rejects(
      writeBackup({ db: from, keys, clock, version: '1.0.0', path, isReadBack: true }),
      (error) => error instanceof BackupError && error.message.includes(reason),
    );
    assert.deepEqual(readdirSync(folder.path), []);
  };
  const parts = started.move();
  return { installation, db, keys, folder, assertNotWritten, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

testOnBoth('a backup that has started before the rotation is not written', async () => {
  await using fixture = await newFixture();
  const { installation, folder, assertNotWritten } = fixture;
  await installation.rotate();
  for (const name of ['a.backup', 'a.gz']) await assertNotWritten(join(folder.path, name), 'the root key has changed');
});

/** What the folder contains at each check for a rotation, in their order. */
const checks: readonly (readonly [when: string, file: (path: string) => RegExp])[] = [
  ['before', (path) => new RegExp(`^${basename(path)}\\.[0-9a-f]{16}\\.partial$`)],
  ['after', (path) => new RegExp(`^${basename(path)}$`)],
];

for (const [index, [when, fileAt]] of checks.entries())
  test(`a backup leaves no file if a rotation commits just ${when} the file gets its name`, async () => {
    await using fixture = await newFixture();
    const { installation, db, keys, folder, assertNotWritten } = fixture;
    const path = join(folder.path, 'a.gz');
    let calls = 0;
    const overtaken: Db = {
      ...withTransaction(db, (...args) => db.transaction(...args)),
      get: async (...args) => {
        if (calls++ === index) {
          const [file = '', ...others] = readdirSync(folder.path);
          assert.match(file, fileAt(path));
          assert.deepEqual(others, []);
          // Complete: no step that takes minutes follows.
          await verifyBackup({ path: join(folder.path, file) }, keys);
          await installation.rotate();
        }
        return db.get(...args);
      },
    };
    await assertNotWritten(path, 'the root key has changed', overtaken);
    assert.equal(calls, index + 1);
  });

test('the check for a rotation follows the verification of the file, which can take minutes', async () => {
  await using fixture = await newFixture();
  const { db, folder, assertNotWritten } = fixture;
  const damaging: Db = {
    ...withTransaction(db, (...args) => db.transaction(...args)),
    snapshot: async (body) => {
      const result = await db.snapshot(body);
      for (const name of readdirSync(folder.path)) truncateSync(join(folder.path, name), 100);
      return result;
    },
    get: () => assert.fail('checked before the verification'),
  };
  await assertNotWritten(join(folder.path, 'a.backup'), 'is cut off', damaging);
});

test('a streamed backup that has started before the rotation has no last line', async () => {
  await using fixture = await newFixture();
  const { installation, db, keys, folder } = fixture;
  const path = join(folder.path, 'streamed');
  await installation.rotate();
  const options = { db, keys, clock: installation.clock, version: '1.0.0' };
  await assert.rejects(
    sendBackup(options, (bytes) => writeFile(path, bytes)),
    /the root key has changed/,
  );
  await assert.rejects(verifyBackup({ path }, keys), BackupError);
});

test('a streamed backup fails if a rotation commits just after its last line', async () => {
  await using fixture = await newFixture();
  const { installation, db, keys, folder } = fixture;
  const path = join(folder.path, 'streamed');
  let calls = 0;
  const overtaken: Db = {
    ...withTransaction(db, (...args) => db.transaction(...args)),
    get: async (...args) => {
      if (calls++ === 1) {
        await verifyBackup({ path }, keys);
        await installation.rotate();
      }
      return db.get(...args);
    },
  };
  const options = { db: overtaken, keys, clock: installation.clock, version: '1.0.0' };
  await assert.rejects(
    sendBackup(options, (bytes) => writeFile(path, bytes)),
    /the root key has changed/,
  );
});

testOnBoth('a restore that has started before the rotation does not bring the earlier root key back', async () => {
  await using installation = await newRotatable();
  using folder = newTempFolder();
  const path = join(folder.path, 'before.backup');
  const { clock, config } = installation;
  await installation.run(({ db, installation: { keys } }) => writeBackup({ db, keys, clock, version: '1.0.0', path }));
  await using opened = await installation.open();
  const { db, keys, rootKeys: current } = opened;
  const rootKeys = await rootKeysOfBackup({ path }, newestSchema(db.dialect), findMasterKey(config), current);
  await installation.rotate();
  const options = { db, keys, rootKeys, replacedCheck: keys.check, clock, path, journal: undefined };
  await assert.rejects(
    restoreBackup(operator, { ...options, journalFolders: [], mayReplace: true, acceptsRevival: true }),
    (error) => error instanceof BackupError && error.message.includes('the root key of the database has changed'),
  );
  assert.equal(await newestRootKeyVersion(db), 2);
  await installation.run((app) => Promise.resolve(assert.equal(app.installation.keys.version, 2)));
});

testOnBoth(
  'a restore into an empty database is rejected if another installation was created there meanwhile',
  async () => {
    await using source = await newRotatable();
    await using target = await newRotatable();
    using folder = newTempFolder();
    const path = join(folder.path, 'a.backup');
    const { clock } = source;
    const { keys, rootKeys } = await source.run(async ({ db, installation }) => {
      await writeBackup({ db, keys: installation.keys, clock, version: '1.0.0', path });
      return installation;
    });
    const created = await target.run((app) => Promise.resolve(app.installation.keys));
    await using opened = await target.open();
    const { db } = opened;
    const options = { db, keys, rootKeys, replacedCheck: undefined, clock, path, journal: undefined };
    await assert.rejects(
      restoreBackup(operator, { ...options, journalFolders: [], mayReplace: true, acceptsRevival: true }),
      /the root key of the database has changed/,
    );
    await target.run((app) => Promise.resolve(assert.deepEqual(app.installation.keys.check, created.check)));
  },
);
