/** Processes that start at the same time in an empty folder. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { basic, bearer, goodPassword, runProcess, startProgram } from './program.ts';

export const migrations = readdirSync(new URL('../../src/foundation/database/migrations/', import.meta.url))
  .filter((name) => /^\d+(?:_\w+)?\.sql$/.test(name))
  .map((name) => name.slice(0, -'.sql'.length));

const count = `${migrations.length} migration${migrations.length === 1 ? '' : 's'}`;

/** They use one master key and one signing key. */
export async function assertOneKey(): Promise<void> {
  using folder = newTempFolder();
  const [first, second, account] = await Promise.all([
    startProgram(folder.path),
    startProgram(folder.path),
    runProcess(['account', 'create', 'you@example.com', '--password-stdin'], {
      folder: folder.path,
      input: goodPassword,
    }),
  ]);
  await using one = first;
  await using other = second;
  assert.equal(account.status, 0, account.stderr);
  // The housekeeping creates the usage file.
  const files = readdirSync(join(folder.path, 'data')).filter((name) => !/-(?:wal|shm)$|\.usage$/.test(name));
  assert.deepEqual(
    files.toSorted(),
    ['', '.deletions', '.first-administrator', '.master-key', '.reserved'].map((suffix) => `keyreeve.db${suffix}`),
  );

  // Each reads the sealed and hashed data of the other.
  const key = await one.command('key create --account you@example.com --nickname first --json'.split(' '));
  const { key: secret } = JSON.parse(key.stdout) as { key: string };
  for (const program of [one, other]) {
    assert.equal((await program.call('GET', '/auth/forward', bearer(secret))).status, 200);
    const signedIn = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
    assert.equal(signedIn.status, 200);
  }
  const [ofOne, ofOther] = await Promise.all(
    [one, other].map(
      async (program) => (await program.call('GET', '/.well-known/jwks.json')).json as { keys: unknown[] },
    ),
  );
  assert.equal(ofOne?.keys.length, 1);
  assert.deepEqual(ofOther, ofOne);
}

/** One of them applies the schema, and the others find it up to date. */
export async function assertOneMigrates(): Promise<void> {
  using folder = newTempFolder();
  const ended = await Promise.all(Array.from({ length: 8 }, () => runProcess(['migrate'], { folder: folder.path })));
  const applied = { status: 0, stdout: `Applied ${count}: ${migrations.join(', ')}.\n`, stderr: '' };
  const upToDate = { status: 0, stdout: 'The schema is up to date.\n', stderr: '' };
  const expected = [applied, ...Array.from({ length: 7 }, () => upToDate)];
  assert.deepEqual(
    ended.toSorted((a, b) => a.stdout.localeCompare(b.stdout)),
    expected,
  );
  assert.deepEqual(readdirSync(join(folder.path, 'data')).toSorted(), ['keyreeve.db', 'keyreeve.db.master-key']);
}
