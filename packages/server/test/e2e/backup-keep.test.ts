/** `keyreeve backup --keep`: at every moment, the folder has as many complete backups as before or more. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { resultOf, Installation } from './kept-backups.ts';

test('each run adds a verified backup, keeps the newest and prints what it has deleted', async () => {
  using installation = await Installation.create();
  const { backups } = installation;
  const [first, second] = [
    resultOf(await installation.run('backup --to backups --keep 2 --json')),
    resultOf(await installation.run('backup --to backups --keep 2 --json')),
  ];
  assert.deepEqual([first.kept, first.deleted, second.kept, second.deleted], [1, [], 2, []]);
  assert.equal(first.rows['accounts'], 1);
  assert.equal(statSync(first.path).mode & 0o777, 0o600);
  const third = resultOf(await installation.run('backup --to backups --keep 2 --json'));
  assert.deepEqual([third.kept, third.deleted], [2, [first.path]]);
  assert.deepEqual(
    installation.files.map((name) => join(backups, name)),
    [second.path, third.path],
  );
  const { stdout } = await installation.run('backup --to backups --keep 1');
  assert.ok(stdout.endsWith(`\n${backups} has 1 backup of this installation. Deleted 2 older ones.\n`), stdout);
  const [kept = ''] = installation.files;
  const restored = await installation.run(
    `restore --from ${join(backups, kept)} --replace --yes --accept-revival --json`,
  );
  assert.equal(restored.status, 0, restored.stderr);
});

test('wrong values and a missing folder are errors that change nothing', async () => {
  using installation = await Installation.create();
  const { backups } = installation;
  resultOf(await installation.run('backup --to backups --keep 1 --json'));
  const existing = installation.files;
  const number = 'must be a whole number from 1 to 10000';
  const missing = join(backups, 'missing');
  for (const [line, status, message] of [
    ['--keep 0', 64, `--keep ${number}, not “0”`],
    ['--keep -1', 64, `--keep ${number}, not “-1”`],
    ['--keep 10001', 64, `--keep ${number}, not “10001”`],
    ['--keep all', 64, `--keep ${number}, not “all”`],
    ['', 1, `${backups} is a folder; name a file, or add --keep`],
  ] as const) {
    const result = await installation.run(`backup --to backups ${line}`.trim());
    assert.deepEqual(result, { status, stdout: '', stderr: `keyreeve: ${message}\n` });
  }
  assert.deepEqual(await installation.run(`backup --to ${missing} --keep 1`), {
    status: 1,
    stdout: '',
    stderr: `keyreeve: there is no folder ${missing}; create or mount it\n`,
  });
  assert.deepEqual(await installation.run('restore --from backups --replace --yes'), {
    status: 1,
    stdout: '',
    stderr: `keyreeve: ${backups} is a folder; name a backup in it\n`,
  });
  assert.deepEqual(installation.files, existing);
});

test('if the deletion journal cannot be completed, a backup fails, names the new file and deletes no older one', async () => {
  using installation = await Installation.create();
  const { backups } = installation;
  const journal = join(backups, '../journal');
  const environment = { KEYREEVE_DELETION_JOURNAL: journal };
  const first = resultOf(await installation.run('backup --to backups --keep 1 --json', environment));
  rmSync(join(journal, 'position.json'));
  mkdirSync(join(journal, 'position.json'));
  const { status, stdout, stderr } = await installation.run('backup --to backups --keep 1', environment);
  assert.deepEqual([status, stdout], [1, '']);
  const second = installation.files.map((name) => join(backups, name)).find((path) => path !== first.path);
  assert.equal(
    stderr,
    `keyreeve: the deletion journal ${journal} is not complete. Until it is, restore rejects the new backup ${second}, and no older backup was deleted. EISDIR: illegal operation on a directory, read '${journal}/position.json'\n`,
  );
  assert.equal(installation.files.length, 2);
});

test('commands that run at the same time leave the newest backup', async () => {
  using installation = await Installation.create();
  const line = 'backup --to backups --keep 1 --json';
  const results = (await Promise.all(Array.from({ length: 4 }, () => installation.runProcess(line)))).map(resultOf);
  const newest = results
    .map(({ path }) => path)
    .toSorted()
    .at(-1);
  const last = resultOf(await installation.run(line));
  assert.deepEqual([last.kept, last.deleted.includes(newest ?? '')], [1, true]);
  assert.equal(installation.files.length, 1);
});

/** A disk of 64 KiB for the backups. Without the right to mount, the test is named as not tried, and fails in CI. */
function mountDisk(t: TestContext, folder: string): ({ readonly remount: () => void } & Disposable) | undefined {
  const mount = (options: string): boolean =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=64k,${options}`, 'tmpfs', folder]).status === 0;
  if (!mount('mode=700')) {
    assert.notEqual(process.env['CI'], 'true', 'this user cannot mount a tmpfs, but CI requires it');
    t.diagnostic('not tried: this user cannot mount a tmpfs');
    return undefined;
  }
  return {
    remount: () => assert.ok(mount('remount,ro')),
    [Symbol.dispose]: () => void spawnSync('umount', ['--lazy', folder]),
  };
}

test('on a full or a read-only disk, the command fails, deletes nothing and leaves no draft', async (t) => {
  using installation = await Installation.create();
  const { backups } = installation;
  using disk = mountDisk(t, backups);
  if (!disk) return;
  resultOf(await installation.run('backup --to backups --keep 1 --json'));
  const existing = installation.files;
  // Fills the disk, in pages of 4 KiB.
  assert.throws(() => writeFileSync(join(backups, 'full'), Buffer.alloc(2 ** 17)), { code: 'ENOSPC' });
  assert.deepEqual(await installation.run('backup --to backups --keep 1'), {
    status: 1,
    stdout: '',
    stderr: `keyreeve: no backup was written to ${backups}: ENOSPC: no space left on device, write. Free space on its disk.\n`,
  });
  assert.deepEqual(installation.files, ['full', ...existing]);
  disk.remount();
  const { status, stdout, stderr } = await installation.run('backup --to backups --keep 1');
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^keyreeve: no backup was written to \S+: EROFS: .*\. Mount its disk for writing\.\n$/);
  assert.deepEqual(installation.files, ['full', ...existing]);
});
