/** Backups to standard output and from standard input, encrypted for recipients of age. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { until } from '../../test-kit/until.ts';
import { environmentFor, keyreeveBin, newProgram, runProgram, type Exit, type Program } from './program.ts';
import { installedProgram } from './proxy-kit.ts';
import { valuesOf } from './scrape.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';

/** Runs a command of a shell, in which `keyreeve` is the program. */
function shell({ folder }: Program, script: string): Exit {
  const define = `set -o pipefail; keyreeve() { "${process.execPath}" "${keyreeveBin}" "$@"; }; `;
  const options = { cwd: folder, env: environmentFor(folder), encoding: 'utf8' } as const;
  return spawnSync('bash', ['-c', define + script], options);
}

async function newIdentity({ folder }: Program): Promise<{ readonly file: string; readonly recipient: string }> {
  const identity = await generateIdentity();
  const file = join(folder, 'identity');
  writeFileSync(file, `${identity}\n`, { mode: 0o600 });
  return { file, recipient: await identityToRecipient(identity) };
}

const assertSucceeds = ({ status, stderr }: Exit): void => assert.deepEqual([status, stderr], [0, '']);

test('a backup goes from one command to another, encrypted, and nothing else is on standard output', async () => {
  await using program = await newProgram();
  await program.newKey();
  const { file, recipient } = await newIdentity(program);
  assertSucceeds(shell(program, 'keyreeve backup --to - > backup.gz'));
  const [recorded = 0] = await valuesOf(program, 'keyreeve_backup_last_success_timestamp_seconds');
  assert.ok(recorded > 0);
  const restore = `keyreeve restore --from - --identity ${file} --replace --yes --json`;
  const result = shell(program, `keyreeve backup --to - --recipient ${recipient} | ${restore}`);
  assertSucceeds(result);
  assert.equal((JSON.parse(result.stdout) as { readonly rows: { readonly api_keys: number } }).rows.api_keys, 1);
  const cut = shell(program, `keyreeve backup --to - --recipient ${recipient} | head -c 400 | ${restore}`);
  assert.match(cut.stderr, /standard-input is damaged or was edited/);
  assert.equal(shell(program, 'ls -d "${TMPDIR:-/tmp}"/keyreeve-restore-*').stdout, '');
});

test('the program age decrypts a backup, and the backup that it has encrypted can be restored', async (t: TestContext) => {
  const age = installedProgram(t, 'age');
  if (age === undefined) return;
  await using program = await newProgram();
  await program.newKey();
  const { file, recipient } = await newIdentity(program);
  assertSucceeds(shell(program, `keyreeve backup --to - --recipient ${recipient} | ${age} -d -i ${file} > plain.gz`));
  assertSucceeds(shell(program, `${age} -r ${recipient} -o again.age plain.gz`));
  const restore = 'keyreeve restore --replace --yes';
  assertSucceeds(shell(program, `${restore} --from plain.gz && ${restore} --from again.age --identity ${file}`));
});

test('a signal removes the temporary file of a restore from standard input', async () => {
  await using program = await newProgram();
  const { folder } = program;
  assertSucceeds(shell(program, 'keyreeve backup --to plain.gz && mkdir temp'));
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    const env = environmentFor(folder, { TMPDIR: join(folder, 'temp') });
    const child = spawn(process.execPath, [keyreeveBin, 'restore', '--from', '-', '--replace', '--yes'], {
      cwd: folder,
      env,
    });
    child.stdin.write(readFileSync(join(folder, 'plain.gz')));
    const files = () => readdirSync(join(folder, 'temp'), { recursive: true });
    await until('the file exists', () => files().length > 1);
    child.kill(signal);
    await once(child, 'close');
    assert.deepEqual(files(), [], signal);
  }
});

test('if the reader closes standard output, the command fails, and is not recorded as a success', async () => {
  await using program = await newProgram();
  const { folder } = program;
  const options = { cwd: folder, env: environmentFor(folder) };
  const child = spawn(process.execPath, [keyreeveBin, 'backup', '--to', '-'], options);
  child.stdout.destroy();
  const [stderr, [status]] = await Promise.all([child.stderr.setEncoding('utf8').toArray(), once(child, 'close')]);
  const reason = 'no complete backup was written: the reader of standard output has closed it';
  assert.deepEqual([status, stderr.join('')], [141, `keyreeve: ${reason}\n`]);
  assert.deepEqual(await valuesOf(program, 'keyreeve_backup_last_success_timestamp_seconds'), [0]);
});

test('if standard output is a file on a full disk, the command fails', { skip: skipWithoutDisks() }, async () => {
  using disk = new SmallDisk();
  await using program = await newProgram();
  await program.newKey();
  const { folder } = program;
  const path = join(disk.path, 'backup.gz');
  const fd = openSync(path, 'w');
  disk.fill();
  const { status, stderr } = spawnSync(process.execPath, [keyreeveBin, 'backup', '--to', '-'], {
    cwd: folder,
    env: environmentFor(folder),
    stdio: ['ignore', fd, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(fd);
  const reason = 'no complete backup was written to standard output: ENOSPC: no space left on device, write';
  assert.deepEqual([status, stderr], [1, `keyreeve: ${reason}\n`]);
  assert.equal(readFileSync(path, 'utf8'), '');
  assert.deepEqual(await valuesOf(program, 'keyreeve_backup_last_success_timestamp_seconds'), [0]);
});

test('options that exclude each other, and missing settings, are errors', async () => {
  await using program = await newProgram();
  const keepNeeds = '--keep needs a folder and no --recipient: it reads backups back';
  const names = 'KEYREEVE_STORAGE_ENDPOINT, KEYREEVE_STORAGE_ACCESS_KEY_ID and KEYREEVE_STORAGE_SECRET_ACCESS_KEY';
  for (const [line, status, message] of [
    ['--to - --json', 64, '--json cannot be used with --to -'],
    ['--to - --keep 3', 64, keepNeeds],
    ['--to s3://backups --keep 3', 64, keepNeeds],
    ['--to backups --keep 3 --recipient age1', 64, keepNeeds],
    ['--to keyreeve.gz.age', 64, 'a name that ends in .age is that of an encrypted backup; add --recipient'],
    [
      '--to s3://backups/../other',
      64,
      '--to must be like s3://bucket or s3://bucket/folder, not “s3://backups/../other”',
    ],
    ['--to s3://', 64, '--to must be like s3://bucket or s3://bucket/folder, not “s3://”'],
    ['--to s3://backups', 1, `for --to s3://…, ${names} must be set`],
  ] as const) {
    const { stdout, stderr, ...result } = await runProgram(['backup', ...line.split(' ')], program);
    const text = line.endsWith('--json') ? (JSON.parse(stderr) as { readonly detail: string }).detail : stderr;
    assert.deepEqual([result.status, stdout], [status, ''], line);
    assert.equal(text, line.endsWith('--json') ? message : `keyreeve: ${message}\n`);
  }
});
