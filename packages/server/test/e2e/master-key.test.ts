/** `keyreeve master-key rotate` beside running services: files, backups and copies of the database. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { bearer, startProgram, type Environment, type Exit, type Program } from './program.ts';

import { keyOf, running, succeeds, newBeside } from './master-key-kit.ts';

function assertFailed({ status, stdout, stderr }: Exit, expected: number, reason: RegExp): void {
  assert.deepEqual([status, stdout], [expected, ''], stderr);
  assert.match(stderr, reason);
}

const statusOf = async (program: Program, key: string): Promise<number> =>
  (await program.call('GET', '/auth/forward', bearer(key))).status;

test('the master key beside an SQLite database is replaced while the service runs', async () => {
  using beside = await newBeside();
  const { folder, run, path, file, text, files } = beside;
  const old = text();
  await using before = await startProgram(folder);
  const { key } = await before.newKey();
  await succeeds(run('backup --to before.gz'));

  const started = await succeeds(run('master-key rotate'));
  const [, newId = '', oldId = ''] =
    /the master key ([0-9a-f]{16}), .* The previous one is ([0-9a-f]{16})/.exec(started) ?? [];
  assert.notEqual(text(), old);
  assert.equal(readFileSync(`${file}.${oldId}`, 'utf8'), old);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(await statusOf(before, key), 200);
  // The service was started with the previous master key.
  const refused = await run('master-key rotate --finish');
  assertFailed(refused, 1, new RegExp(`started with the master key ${newId}: ins_.* with the master key ${oldId}`));
  assertFailed(
    await run('master-key rotate'),
    1,
    new RegExp(`the rotation to the master key ${newId} is unfinished, and ${file} contains it`),
  );
  const during = await succeeds(run('doctor'));
  assert.match(
    during,
    new RegExp(`master key id +note +a rotation has been unfinished since .*: ${oldId} .* and ${newId} open`),
  );
  assert.equal(during.match(new RegExp(`^instance +note .* with the master key ${oldId}$`, 'gm'))?.length, 1);
  await before.stop();

  await using after = await startProgram(folder);
  assert.equal(await statusOf(after, key), 200);
  const shown = await succeeds(run('doctor'));
  assert.equal(shown.match(new RegExp(`^instance +ok .* with the master key ${newId}$`, 'gm'))?.length, 1);
  const finished = await succeeds(run('master-key rotate --finish'));
  const advice = 'It opens only copies of the database and backups from before now\\.';
  assert.match(
    finished,
    new RegExp(`^Removed the master key ${oldId}\\. ${advice} It is in (\\S+)\\. .*delete it here`),
  );
  assert.ok(finished.includes(` ${file}.${oldId}. `));
  assert.deepEqual(files(), ['keyreeve.db.master-key', `keyreeve.db.master-key.${oldId}`]);
  assert.equal(readFileSync(`${file}.${oldId}`, 'utf8'), old);
  assert.match(await succeeds(run('doctor')), new RegExp(`master key id +ok +${newId}, 0 days old`));
  const { text: metrics } = { text: await (await fetch(`${after.adminUrl}/metrics`)).text() };
  assert.match(metrics, /^keyreeve_master_key_age_seconds \d+(?:\.\d+)?$/m);
  assert.equal(await statusOf(after, key), 200);

  // A copy of the files while the service runs, with the previous master key.
  const copy = join(folder, 'copy');
  mkdirSync(copy);
  for (const ending of ['', '-wal']) cpSync(`${path}${ending}`, join(copy, `keyreeve.db${ending}`));
  writeFileSync(join(copy, 'old'), old, { mode: 0o600 });
  const copied = { KEYREEVE_DATABASE_URL: `sqlite:${join(copy, 'keyreeve.db')}` };
  const withOld = await run('account list', { ...copied, KEYREEVE_MASTER_KEY_FILE: join(copy, 'old') });
  assertFailed(withOld, 78, new RegExp(`its id is ${oldId}, and the database needs ${newId}`));
  await succeeds(run('account list', { ...copied, KEYREEVE_MASTER_KEY_FILE: file }));

  await after.stop();
  const secrets = [old, text()].map((one) => one.trim());
  const printed = [started, refused.stderr, during, shown, before.stdout, before.stderr, after.stdout, metrics].join(
    '',
  );
  for (const secret of secrets) {
    assert.ok(!printed.includes(secret));
    assert.ok(!printed.includes(Buffer.from(secret, 'base64url').toString('hex')));
  }
});

testOnEach(
  'a backup restores with the master key of its time, and a new one only with the new master key',
  async () => {
    using folder = newTempFolder();
    await using place = await newPlace();
    const [one, two] = ['one', 'two'].map((name) => join(folder.path, name)) as [string, string];
    writeFileSync(one, keyOf(3), { mode: 0o600 });
    const { KEYREEVE_MASTER_KEY: _, ...base } = place.environment;
    const journal = join(folder.path, 'journal');
    const run = running(folder.path, { ...base, KEYREEVE_DELETION_JOURNAL: journal, KEYREEVE_MASTER_KEY_FILE: one });
    const byTwo = { KEYREEVE_MASTER_KEY_FILE: two };
    await succeeds(run('account create you@example.com --generate'));
    await succeeds(run('backup --to old.gz'));
    await succeeds(run(`master-key rotate --new-file ${two} --generate`));
    assert.match(readFileSync(two, 'utf8'), /^[\w-]{43}\n$/);
    assert.equal(statSync(two).mode & 0o777, 0o600);
    await succeeds(run('account list', byTwo));
    await succeeds(run('master-key rotate --finish', byTwo));
    assertFailed(await run('account list'), 78, /the master key is not that of the database/);
    await succeeds(run('backup --to new.gz', byTwo));

    const restore = async (file: string, key: Environment): Promise<Exit> => {
      await using fresh = await newPlace();
      const there = { KEYREEVE_DATABASE_URL: fresh.url, ...key };
      const restored = await run(`restore --from ${file}`, there);
      if (restored.status === 0) assert.match(await succeeds(run('account list', there)), /you@example\.com/);
      return restored;
    };
    assert.equal((await restore('old.gz', {})).status, 0);
    assertFailed(
      await restore('old.gz', byTwo),
      1,
      /was made with another master key; restoring it needs that one \(id /,
    );
    assert.equal((await restore('new.gz', byTwo)).status, 0);
    assertFailed(await restore('new.gz', {}), 1, /was made with another master key; restoring it needs that one \(id /);
    // The database of the installation opens the root key of its earlier backups, and stays with its master key.
    await succeeds(run('restore --from old.gz --replace --yes', byTwo));
    await succeeds(run('account list', byTwo));
    assertFailed(await run('account list'), 78, /the master key is not that of the database/);
    assert.equal((await run('audit verify', byTwo)).status, 0);
  },
);

test('a new master key in an unusable file is rejected, and nothing is added', async () => {
  using beside = await newBeside();
  const { folder, run, file } = beside;
  const path = join(folder, 'new');
  const rotate = `master-key rotate --new-file ${path}`;
  assertFailed(await run(rotate), 78, /^keyreeve: the master key .*new can't be read\n$/);
  writeFileSync(path, `${keyOf(1).slice(1)}\n`, { mode: 0o600 });
  assertFailed(await run(rotate), 78, /the master key .*new is damaged: expected 43 characters of base64url/);
  writeFileSync(path, keyOf(1));
  chmodSync(path, 0o644);
  assertFailed(await run(rotate), 78, /can be read by others; it must have mode 0600 \(chmod 600 /);
  chmodSync(path, 0o600);
  assertFailed(await run(`${rotate} --generate`), 64, /new already exists; name another file, or leave out --generate/);
  assert.equal(readFileSync(path, 'utf8'), keyOf(1));
  cpSync(file, path);
  assertFailed(await run(rotate), 1, /the new master key is the one in use \(id [0-9a-f]{16}\); generate another one/);
  for (const wrong of ['--finish --cancel', `--finish --new-file ${path}`, '--cancel --generate'])
    assertFailed(await run(`master-key rotate ${wrong}`), 64, /are separate steps; give one of them/);
  assertFailed(
    await run('master-key rotate --ended-instance ins_1'),
    64,
    /--ended-instance needs --finish or --cancel/,
  );
  const configured = { KEYREEVE_MASTER_KEY_FILE: file };
  assertFailed(
    await run('master-key rotate', configured),
    64,
    /--new-file is missing: the file with the new master key/,
  );
  const postgres = { KEYREEVE_DATABASE_URL: 'postgres://keyreeve@localhost/keyreeve' };
  assertFailed(await run(rotate, postgres), 78, /KEYREEVE_MASTER_KEY must be set/);
  for (const step of ['--finish', '--cancel'])
    assert.match(await succeeds(run(`master-key rotate ${step}`)), /^No rotation is unfinished\./);
  assert.match(await succeeds(run('audit export')), /^(?!.*master_key)/);
  // A generated file of a rejected rotation does not remain.
  await succeeds(run('master-key rotate'));
  assertFailed(
    await run(`master-key rotate --new-file ${path}-2 --generate`),
    1,
    /is unfinished; restart every instance/,
  );
  assert.equal(existsSync(`${path}-2`), false);
});

test('a generated file that no rotation has added does not become the master key', async () => {
  using beside = await newBeside();
  const { run, file, text, files } = beside;
  const old = text();
  // Of a killed command, or planted by another user.
  const planted = keyOf(1);
  writeFileSync(`${file}.next`, planted, { mode: 0o600 });
  writeFileSync(`${file}.next.0123456789abcdef.partial`, planted, { mode: 0o600 });
  await succeeds(run('master-key rotate'));
  assert.ok(![old, planted].includes(text()));
  assert.deepEqual(files().length, 2);
  writeFileSync(`${file}.next`, planted, { mode: 0o600 });
  await succeeds(run('master-key rotate --cancel'));
  assert.deepEqual([files(), text()], [['keyreeve.db.master-key'], old]);
});

test('a symbolic link in the place of the master key is not replaced', async () => {
  using beside = await newBeside();
  const { folder, run, file, text, files } = beside;
  const old = text();
  renameSync(file, join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), file);
  const reason =
    /master-key is a symbolic link, which a rotation does not replace; name the file of the new master key/;
  assertFailed(await run('master-key rotate'), 1, reason);
  assert.match(await succeeds(run('doctor')), /master key id +ok/);
  const next = join(folder, 'next');
  await succeeds(run(`master-key rotate --new-file ${next} --generate`));
  await succeeds(run('master-key rotate --cancel'));
  assert.deepEqual([files(), text()], [['keyreeve.db.master-key'], old]);
  await succeeds(run(`master-key rotate --new-file ${next}`));
  await succeeds(run('master-key rotate --finish', { KEYREEVE_MASTER_KEY_FILE: next }));
  await succeeds(run('account list', { KEYREEVE_MASTER_KEY_FILE: next }));
});
