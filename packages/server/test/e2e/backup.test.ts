/** `keyreeve backup` and `restore`: deleted keys stay rejected, and a killed command changes nothing. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { bearer, runProgram, startProgram, type Environment, type Exit } from './program.ts';

const running = (folder: string, environment: Environment) => (line: string) =>
  runProgram(line.split(' '), { folder, environment });

function assertFailed({ status, stdout, stderr }: Exit, expected: number, reason: RegExp): void {
  assert.deepEqual([status, stdout], [expected, '']);
  assert.match(stderr, reason);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
}

testOnEach(
  'after the restore of an older backup, deleted keys are rejected, other keys are valid and sessions have ended',
  async () => {
    using folder = newTempFolder();
    await using place = await newPlace();
    const journal = join(folder.path, 'journal');
    const environment: Environment = {
      KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
      KEYREEVE_MASTER_KEY: Buffer.alloc(32, 3).toString('base64url'),
      ...place.environment,
      KEYREEVE_DELETION_JOURNAL: journal,
    };
    const run = running(folder.path, environment);
    await using program = await startProgram(folder.path, environment);
    const { accessToken, refreshToken } = await program.signIn();
    const kept = await program.createKey(accessToken, 'kept');
    const removed = await program.createKey(accessToken, 'removed');
    const created = await run('backup --to old.gz --json');
    assert.equal(created.status, 0, created.stderr);
    assert.equal((JSON.parse(created.stdout) as { rows: Record<string, number> }).rows['api_keys'], 2);
    assertFailed(await run('backup --to old.gz'), 1, /old\.gz already exists/);
    assert.equal((await program.call('DELETE', `/auth/api-keys/${removed.id}`, bearer(accessToken))).status, 200);

    assertFailed(await run('restore --from old.gz'), 1, /not empty; with --replace/);
    assertFailed(
      await run('restore --from old.gz --replace'),
      64,
      /not a terminal, so the command cannot ask; add --yes/,
    );
    assertFailed(await run('restore --from none.gz --replace --yes'), 1, /none\.gz/);
    const other = { ...environment, KEYREEVE_DELETION_JOURNAL: join(folder.path, 'other') };
    // The running service has no cache, so its next request uses the restored data.
    const restored = await run('restore --from old.gz --replace --yes --json');
    assert.equal(restored.status, 0, restored.stderr);
    assert.equal((JSON.parse(restored.stdout) as { replayed: { apiKeys: number } }).replayed.apiKeys, 1);
    const statusOf = async (credential: string) =>
      (await program.call('GET', '/auth/forward', bearer(credential))).status;
    assert.deepEqual(
      [await statusOf(kept.key), await statusOf(removed.key), await statusOf(accessToken)],
      [200, 401, 401],
    );
    assert.equal((await program.call('POST', '/auth/token/refresh', {}, { refreshToken })).status, 401);

    // On another machine, with only the backup, the master key and the deletion journal.
    await using fresh = await newPlace();
    const there = {
      ...environment,
      ...fresh.environment,
      KEYREEVE_MASTER_KEY: environment['KEYREEVE_MASTER_KEY'] ?? '',
    };
    const withoutJournal = running(folder.path, {
      ...there,
      KEYREEVE_DELETION_JOURNAL: other['KEYREEVE_DELETION_JOURNAL'] ?? '',
    });
    assertFailed(await withoutJournal('restore --from old.gz'), 1, /there is no deletion journal/);
    const wrongKey = { ...there, KEYREEVE_MASTER_KEY: Buffer.alloc(32, 4).toString('base64url') };
    await using third = await newPlace();
    const withWrongKey = running(folder.path, { ...wrongKey, KEYREEVE_DATABASE_URL: third.url });
    assertFailed(await withWrongKey('restore --from old.gz'), 1, /made with another master key/);
    const again = await withoutJournal(`restore --from old.gz --journal ${journal}`);
    assert.equal(again.status, 0, again.stderr);
    await using second = await startProgram(folder.path, there);
    const responses = [kept.key, removed.key].map((key) => second.call('GET', '/auth/forward', bearer(key)));
    assert.deepEqual(
      (await Promise.all(responses)).map(({ status }) => status),
      [200, 401],
    );
  },
);

test('the service does not start with an unwritable deletion journal or that of another installation', async () => {
  using folder = newTempFolder();
  const journal = join(folder.path, 'journal');
  const masterKey = (byte: number) => ({ KEYREEVE_MASTER_KEY: Buffer.alloc(32, byte).toString('base64url') });
  const serve = (environment: Environment) =>
    runProgram(['serve'], { folder: folder.path, environment: { ...environment, KEYREEVE_DELETION_JOURNAL: journal } });
  writeFileSync(journal, '');
  const unwritable = await serve(masterKey(3));
  assert.deepEqual([unwritable.status, unwritable.stderr.split('\n').length], [1, 2], unwritable.stderr);
  assert.match(unwritable.stderr, /^keyreeve: ENOTDIR.*journal/);
  rmSync(journal);
  {
    await using program = await startProgram(folder.path, { ...masterKey(3), KEYREEVE_DELETION_JOURNAL: journal });
    await program.stop();
  }
  const elsewhere = { ...masterKey(4), KEYREEVE_DATABASE_URL: `sqlite:${join(folder.path, 'other.db')}` };
  const foreign = await serve(elsewhere);
  assert.equal(foreign.status, 1);
  assert.match(foreign.stderr, /^keyreeve: .*belongs to another installation, which has another master key\n$/);
});
