/** Opening an installation: when a master key is created, and which empty databases start as a new installation. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { systemClock } from '../../foundation/clock.ts';
import { ConfigError, readConfig } from '../configuration/config.ts';
import { deriveKeys } from '../../foundation/crypto/master-key.ts';
import { openDatabase } from '../../foundation/database/database.ts';
import { migrate } from '../../foundation/database/migrate.ts';
import { JournalFile } from '../../modules/deletion-journal/files.ts';
import { masterKeyPath } from '../installation/earlier-installation.ts';
import { openInstallation } from '../installation/installation.ts';
import { currentKind, databaseKinds, newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { openTogether } from './open-together.ts';
import { fixedRootKeys } from '../../../test-kit/fixed-root-keys.ts';

type Environment = Readonly<Record<string, string>>;

/** Opens the installation as `serve` or, with `isToBeFilled`, as `restore` does, and closes it. */
async function open(environment: Environment, { isToBeFilled = false } = {}): Promise<void> {
  const fill = (key: Buffer) => Promise.resolve(fixedRootKeys(key, systemClock.now()));
  const options = { clock: systemClock, mayCreate: true, fill: isToBeFilled ? fill : undefined };
  const { db } = await openInstallation(readConfig(environment), options);
  await db.close();
}

const rejects = (environment: Environment, ...parts: readonly string[]): Promise<void> =>
  assert.rejects(open(environment), (error) => {
    assert.ok(error instanceof ConfigError);
    for (const part of parts) assert.ok(error.message.includes(part), `${part} is missing in: ${error.message}`);
    return true;
  });

const newData = () => {
  const folder = newTempFolder();
  const path = join(folder.path, 'keyreeve.db');
  const environment = { KEYREEVE_DATABASE_URL: `sqlite:${path}` };
  return { folder: folder.path, path, environment, [Symbol.dispose]: () => folder[Symbol.dispose]() };
};

/** Removes the files of an SQLite database, but not its master key. */
const removeDatabase = (path: string): void => {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
};

test('a master key is created although a killed start with the same process id has left its draft', async () => {
  using data = newData();
  const left = `${masterKeyPath(data.path)}.${process.pid}`;
  writeFileSync(left, 'half of a k');
  await open(data.environment);
  assert.match(readFileSync(masterKeyPath(data.path), 'utf8'), /^[A-Za-z0-9_-]{43}\n$/);
  assert.equal(statSync(masterKeyPath(data.path)).mode & 0o777, 0o600);
  // Neither a draft nor the marker of a new installation remains.
  const others = readdirSync(data.folder).filter((name) => name.includes('.master-key.'));
  assert.deepEqual(others, [`keyreeve.db.master-key.${process.pid}`]);
});

suite('with the master key of an installation that was in use', () => {
  const losses: Readonly<Record<string, (path: string) => void>> = {
    'a missing database': removeDatabase,
    'an empty file': (path) => (removeDatabase(path), writeFileSync(path, '')),
  };
  for (const [name, lose] of Object.entries(losses)) {
    test(`${name} is rejected with the command to run, and nothing is created`, async () => {
      using data = newData();
      await open(data.environment);
      lose(data.path);
      const before = readdirSync(data.folder);
      const key = masterKeyPath(data.path);
      const parts = [data.path, key, 'keyreeve restore --from', `mv ${key} ${key}.old`];
      await rejects(data.environment, ...parts);
      await rejects(data.environment, ...parts);
      assert.deepEqual(readdirSync(data.folder), before);
      // The command of the message.
      renameSync(key, `${key}.old`);
      await open(data.environment);
    });
  }

  test('a database that was migrated but not initialised is rejected', async () => {
    using data = newData();
    await open(data.environment);
    removeDatabase(data.path);
    const db = await openDatabase(readConfig(data.environment).database, deriveKeys(Buffer.alloc(32)).auditChain);
    await migrate(db, systemClock);
    await db.close();
    await rejects(data.environment, 'keyreeve restore --from');
  });

  test('a restore can fill an empty database, and the result of a failed restore does not start', async () => {
    using data = newData();
    await open(data.environment);
    removeDatabase(data.path);
    await open(data.environment, { isToBeFilled: true });
    assert.ok(statSync(data.path).size > 0);
    await rejects(data.environment, 'keyreeve restore --from');
  });
});

suite('a first start that was killed continues', () => {
  const kills: Readonly<Record<string, (path: string) => Promise<unknown> | void>> = {
    'after it has created its marker': (path) => rmSync(masterKeyPath(path)),
    'after it has created its master key': () => undefined,
    'while it created the database': (path) => writeFileSync(path, ''),
    'after it has created the schema': async (path) => {
      const environment = { KEYREEVE_DATABASE_URL: `sqlite:${path}` };
      const db = await openDatabase(readConfig(environment).database, deriveKeys(Buffer.alloc(32)).auditChain);
      await migrate(db, systemClock);
      await db.close();
    },
  };
  for (const [name, kill] of Object.entries(kills)) {
    test(name, async () => {
      using data = newData();
      await open(data.environment);
      removeDatabase(data.path);
      writeFileSync(`${masterKeyPath(data.path)}.new`, '');
      await kill(data.path);
      await open(data.environment);
      assert.equal(existsSync(`${masterKeyPath(data.path)}.new`), false);
      await open(data.environment);
    });
  }

  test('after it has initialised the database, before it has removed its marker', async () => {
    using data = newData();
    await open(data.environment);
    writeFileSync(`${masterKeyPath(data.path)}.new`, '');
    await open(data.environment);
    assert.equal(existsSync(`${masterKeyPath(data.path)}.new`), false);
    removeDatabase(data.path);
    await rejects(data.environment, 'keyreeve restore --from');
  });
});

test('16 concurrent first starts open the same installation', async () => {
  using data = newData();
  using together = openTogether(16);
  await Promise.all(Array.from({ length: together.count }, () => open(data.environment)));
  await open(data.environment);
});

for (const kind of databaseKinds) {
  test(`an empty database is rejected if the deletion journal has deletions (${kind})`, async () => {
    await using place = await currentKind.run(kind, () => newPlace());
    using temp = newTempFolder();
    const masterKey = Buffer.alloc(32, 5);
    const journal = join(temp.path, 'deletions');
    const environment = {
      ...place.environment,
      KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
      KEYREEVE_DELETION_JOURNAL: journal,
    };
    await new JournalFile(journal, deriveKeys(masterKey)).append([{ kind: 'api_key', id: '1', at: 1 }]);
    await rejects(environment, journal, 'keyreeve restore --from', `mv ${journal} ${journal}.old`);
    await open(environment, { isToBeFilled: true });
    await rejects(environment, journal);
    // A folder without deletions is no trace of an earlier installation.
    renameSync(journal, `${journal}.old`);
    mkdirSync(journal);
    await open(environment);
    renameSync(`${journal}.old/`, journal);
    await open(environment);
  });
}

test('a deletion journal without its master key is rejected before a new key is created', async () => {
  using data = newData();
  const journal = `${data.path}.deletions`;
  await new JournalFile(journal, deriveKeys(Buffer.alloc(32, 9))).append([{ kind: 'api_key', id: '1', at: 1 }]);
  await rejects(data.environment, journal, 'keyreeve restore --from');
  assert.deepEqual(readdirSync(data.folder), ['keyreeve.db.deletions']);
});
