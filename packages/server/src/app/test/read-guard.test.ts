/** When a verifier refuses to read. */
import assert from 'node:assert/strict';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { copySqliteTemplate } from '../../../test-kit/sqlite-template.ts';
import { DatabaseFile, DatabaseReplacedError } from '../../foundation/database/file-identity.ts';
import { SqliteConnection } from '../../foundation/database/sqlite-connection.ts';
import { ReadGuard } from '../processes/read-guard.ts';

async function fixture(t: TestContext) {
  const folder = newTempFolder();
  const path = join(folder.path, 'keyreeve.db');
  await copySqliteTemplate(path);
  const connection = new SqliteConnection(path, 'read');
  connection.prepare('select 1 from sqlite_schema').get();
  const file = new DatabaseFile(path);
  // Its own comparison, once a second, would notice the replacement too.
  file.stop();
  t.after(() => {
    connection.close();
    folder[Symbol.dispose]();
  });
  const now = { ms: 1_000, parentPid: 7 };
  const refused: Error[] = [];
  const guard = new ReadGuard({
    parentPid: () => now.parentPid,
    monotonicMs: () => now.ms,
    onRefused: (reason) => void refused.push(reason),
  });
  const replace = (): void => {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  };
  return { file, guard, now, refused, replace };
}

test('a read more than 250 ms after the last comparison is refused if the file was replaced, and so are all later ones', async (t) => {
  const { file, guard, now, refused, replace } = await fixture(t);
  guard.check(file);
  replace();
  now.ms += 250;
  guard.check(file);
  now.ms += 1;
  for (let read = 0; read < 2; read++) assert.throws(() => guard.check(file), DatabaseReplacedError);
  assert.equal(refused.length, 1);
});

for (const kind of ['SQLite', 'PostgreSQL'])
  test(`a read is refused after the end of the main process (${kind})`, async (t) => {
    const { file, guard, now, refused } = await fixture(t);
    const read = (): void => guard.check(kind === 'SQLite' ? file : undefined);
    read();
    now.parentPid = 1;
    now.ms += 250;
    read();
    now.ms += 1;
    for (let count = 0; count < 2; count++) assert.throws(read, /the main process has ended/);
    assert.equal(refused.length, 1);
  });
