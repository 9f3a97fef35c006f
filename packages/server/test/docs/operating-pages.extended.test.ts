/** The blocks of the pages for operators, except those of `operating-pages.test.ts`, run as they stand. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { cleanEnvironment, environmentFor, keyreeveBin, startProgram, type Environment } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { OperatingBlocks, runBlock } from './operating-blocks.ts';
import { operatingPages, pagesInNpmTest } from './operating-pages.ts';
import { readPage, root } from './shell-blocks.ts';

const operating = new OperatingBlocks(operatingPages.filter((page) => !pagesInNpmTest.includes(page)));
const take = (page: string, start: string): string => operating.take(page, start);
/** Pages whose blocks need a program that the machine lacks. */
const notTried = new Set<string>();

test('one machine: settings, key, service, commands, backup and upgrade of docs/deploy.md', async (t: TestContext) => {
  if (!hasCurl(t)) return void notTried.add('deploy.md');
  using folder = newTempFolder();
  const at = (name: string): string => join(folder.path, name);
  const environment = environmentFor(folder.path, { KEYREEVE_DATABASE_URL: `sqlite:${at('lib/keyreeve.db')}` });
  const replaced = {
    '/etc/keyreeve': at('etc'),
    '/var/lib/keyreeve': at('lib'),
    '/var/backups/keyreeve': at('backups'),
    '/usr/local/bin/keyreeve': at('keyreeve'),
    '/opt/keyreeve/current/node_modules/keyreeve/docs/': join(root, 'docs/'),
    '/etc/systemd/system/': at('system/'),
    '/opt/keyreeve/current/node_modules/keyreeve/bin/keyreeve.js': keyreeveBin,
    '/opt/keyreeve': at('opt'),
    '/root/': at('root/'),
  };
  const shell = { folder: folder.path, environment, replaced };
  for (const name of ['lib', 'system']) mkdirSync(at(name));
  runBlock(take('deploy.md', 'install -d -m 0755'), shell);
  runBlock(take('deploy.md', '(umask 077'), shell);
  assert.equal(statSync(at('etc/master-key')).mode & 0o777, 0o640);
  chmodSync(at('etc/master-key'), 0o600);
  // As the unit does.
  const settings = readFileSync(at('etc/keyreeve.env'), 'utf8').trim().split('\n');
  const own = {
    ...(Object.fromEntries(settings.map((line) => line.split('=', 2))) as Environment),
    KEYREEVE_MASTER_KEY_FILE: at('etc/master-key'),
    KEYREEVE_DATABASE_URL: `sqlite:${at('lib/keyreeve.db')}`,
  };
  await using program = await startProgram(folder.path, own);
  const start = take('deploy.md', 'cp /opt/keyreeve/');
  const printed = runBlock(start, { ...shell, replaced: { ...replaced, 'http://127.0.0.1:8787': program.url } });
  assert.equal(`# ${printed.trim()}`, start.trim().split('\n').at(-1));

  const wrapper = Object.entries({
    ...replaced,
    'runuser -u keyreeve -- ': '',
    'exec node ': `exec ${process.execPath} `,
  });
  const install = take('deploy.md', 'install -m 0755').replace(
    '/opt/keyreeve/current/node_modules/keyreeve/docs/systemd',
    folder.path,
  );
  const script = wrapper.reduce(
    (text, [shown, real]) => text.replaceAll(shown, real),
    readPage('docs/systemd/keyreeve.sh'),
  );
  writeFileSync(at('keyreeve.sh'), script);
  const commands = {
    folder: folder.path,
    // Without the function, so that the shell finds the wrapper. It reads the settings from the file.
    environment: { ...cleanEnvironment(), PATH: `${folder.path}:${process.env['PATH'] ?? ''}` },
    replaced: { ...replaced, ' --admin ': ' --admin --generate ', '-o keyreeve -g keyreeve ': '' },
  };
  const withWrapper = (text: string): string => runBlock(`unset -f keyreeve; ${text}`, commands);
  const [, quoted = ''] = /`(KEYREEVE_MAIL_FROM='[^`]+)`/.exec(readPage('docs/deploy.md')) ?? [];
  appendFileSync(at('etc/keyreeve.env'), `KEYREEVE_SMTP_URL=smtp://127.0.0.1:2525\n${quoted}\n`);
  assert.match(
    withWrapper(install),
    /KEYREEVE_PUBLIC_URL +https:\/\/auth[^]*KEYREEVE_MAIL_FROM +Example <accounts@example\.com> [^]*Created account you@example\.com \(\w+\), admin/,
  );
  checkUnquoted(at('etc/keyreeve.env'), at('keyreeve'));
  withWrapper(take('deploy.md', 'install -d -o keyreeve'));
  assert.deepEqual(readdirSync(at('system')).toSorted(), [
    'keyreeve-backup.service',
    'keyreeve-backup.timer',
    'keyreeve.service',
  ]);
  assert.match(withWrapper(take('deploy.md', 'keyreeve signing-key rotate')), /^Created /);
  await program.stop();
  const [create, rotate] = [take('deploy.md', 'new=/etc/'), take('deploy.md', 'keyreeve master-key rotate')];
  for (const time of ['first', 'second']) {
    const file = at(`etc/master-key-${time}`);
    withWrapper(`date() { echo ${time}; }; ${create}`);
    assert.equal(statSync(file).mode & 0o777, 0o640);
    chmodSync(file, 0o600);
    const [previous, next] = [at('etc/master-key'), file].map((path) => readFileSync(path, 'utf8'));
    assert.match(withWrapper(`new=${file}; ${rotate}`), /^Added the master [^]*\nRemoved the master /);
    const kept = [at('etc/master-key'), `${file}.previous`].map((path) => readFileSync(path, 'utf8'));
    assert.deepEqual(kept, [next, previous]);
  }
  mkdirSync(at('root'));
  writeFileSync(at('root/keyreeve-1.2.3.tgz'), '');
  withWrapper(take('deploy.md', 'keyreeve backup --to'));
  assert.equal(readdirSync(at('backups')).length, 1);
  assert.equal(readlinkSync(at('opt/current')), 'keyreeve-1.2.3');
});

/** systemd accepts such a value without quotation marks, but the shell does not: the command must not run without the setting. */
function checkUnquoted(file: string, command: string): void {
  const settings = readFileSync(file, 'utf8');
  writeFileSync(file, `${settings}KEYREEVE_SSO_NAME=Staff login-of-no-command\n`);
  const { status, stdout } = spawnSync(command, ['doctor'], { env: cleanEnvironment(), encoding: 'utf8' });
  assert.deepEqual([status, stdout], [127, '']);
  writeFileSync(file, settings);
}

test('commands, the check for monitoring, backups and restores of docs/operating.md, backup.md and upgrade.md', async () => {
  using folder = newTempFolder();
  const at = (name: string): string => join(folder.path, name);
  const environment = environmentFor(folder.path);
  const journals = { '/mnt/a/deletions': at('a'), '/mnt/b/deletions': at('b') };
  const shell = { folder: folder.path, environment, replaced: journals };
  {
    await using program = await startProgram(folder.path);
    const accounts = {
      'create you@example.com ': 'create you@example.com --generate ',
      'key delete 3920480220219155 ': 'key delete --account you@example.com --nickname verifier --yes ',
    };
    const text = take('operating.md', 'keyreeve account create');
    assert.match(runBlock(text, { ...shell, replaced: accounts }), /verifier/);
    assert.match(runBlock(take('operating.md', 'keyreeve signing-key'), shell), /^Created [^]*Created /);
    await program.stop();
  }
  const proxy = take('operating.md', 'KEYREEVE_PUBLIC_URL=');
  runBlock(proxy, shell);

  mkdirSync(at('backups'));
  runBlock(take('backup.md', 'keyreeve backup --to backups/'), shell);
  const nightly = take('backup.md', 'keyreeve backup --to backups --keep');
  assert.ok(
    readPage('docs/backup.md').includes(`0 3 * * *  cd /srv/keyreeve && node_modules/.bin/${nightly}`),
    'the line of the crontab',
  );
  runBlock(nightly, shell);
  assert.equal(readdirSync(at('backups')).length, 2);
  for (const copy of ['a', 'b']) cpSync(at('data/keyreeve.db.deletions'), at(copy), { recursive: true });
  runBlock(take('backup.md', 'keyreeve journal replay'), shell);
  const upgrade = take('upgrade.md', 'keyreeve doctor');
  const shape = (text: string): string => text.trim().replaceAll(/ +/g, ' ');
  assert.equal(`# ${shape(runBlock(upgrade, shell))}`, shape(upgrade.split('\n')[1] ?? ''));

  // The first line needs a new database, the others replace one.
  const restore = take('backup.md', 'keyreeve restore').replaceAll('--replace ', '--replace --yes ').split('\n');
  const key = { KEYREEVE_MASTER_KEY: readFileSync(at('data/keyreeve.db.master-key'), 'utf8').trim() };
  for (const [index, line] of restore.filter((one) => one !== '').entries()) {
    const place = index === 1 ? {} : { ...key, KEYREEVE_DATABASE_URL: `sqlite:${at(`new-${index}/keyreeve.db`)}` };
    const journal = { KEYREEVE_DELETION_JOURNAL: at('data/keyreeve.db.deletions') };
    if (index !== 1) mkdirSync(at(`new-${index}`));
    runBlock(line, { ...shell, environment: { ...environment, ...place, ...journal } });
  }
  mkdirSync(at('drill'));
  const drill = { '/tmp/drill': at('drill'), '/run/secrets/keyreeve-master-key': at('data/keyreeve.db.master-key') };
  runBlock(take('backup.md', 'export KEYREEVE_DATABASE_URL=sqlite'), { ...shell, replaced: { ...journals, ...drill } });
  assert.equal(existsSync(at('drill')), false);

  checkPlugin(folder.path, environment);
});

/** Its statuses for a warning, a failed check, no warning, and a command that cannot run. */
function checkPlugin(folder: string, environment: Environment): void {
  const plugin = join(folder, 'check_keyreeve');
  cpSync(join(root, 'docs/monitoring/check_keyreeve'), plugin);
  writeFileSync(join(folder, 'keyreeve'), `#!/bin/sh\nexec '${process.execPath}' '${keyreeveBin}' "$@"\n`, {
    mode: 0o755,
  });
  const env = { ...environment, PATH: `${folder}:${environment['PATH'] ?? ''}` };
  const check = (more: Environment): [number | null, string] => {
    const { status, stdout } = spawnSync(plugin, { cwd: folder, env: { ...env, ...more }, encoding: 'utf8' });
    return [status, stdout];
  };
  assert.deepEqual(check({}), [0, 'ok: no warnings\n']);
  const [warned, warnings] = check({ KEYREEVE_THROTTLE: 'off' });
  assert.equal(warned, 1);
  assert.match(warnings, /^\{"name":"configuration","state":"warning","detail":"KEYREEVE_THROTTLE is off[^\n]*"\}\n$/);
  const [failed, failures] = check({ KEYREEVE_MASTER_KEY: 'A'.repeat(43) });
  assert.equal(failed, 2);
  assert.match(failures, /^\{"name":"database","state":"failed","detail":"the master key is not that of the database/);
  assert.deepEqual(check({ KEYREEVE_PORT: 'none' }), [3, '']);
  // `runuser` in the command of docs/deploy.md has this status if it may not change the user.
  writeFileSync(join(folder, 'keyreeve'), '#!/bin/sh\nexit 1\n');
  assert.deepEqual(check({}), [3, '']);
}

test('a cluster: the move to PostgreSQL and the settings of docs/backup.md and docs/cluster.md', async () => {
  using folder = newTempFolder();
  await using place = await newPlace('postgres');
  const environment = environmentFor(folder.path);
  const replaced = {
    'postgres://keyreeve:secret@db.example.com/keyreeve': place.url,
    'postgres://keyreeve:<password>@db.example.com/keyreeve': place.url,
    '/srv/keyreeve/data': join(folder.path, 'data'),
    '/srv/keyreeve/deletions': join(folder.path, 'deletions'),
    '/etc/keyreeve/master-key': join(folder.path, 'data/keyreeve.db.master-key'),
  };
  const shell = { folder: folder.path, environment, replaced };
  runBlock('keyreeve account create you@example.com --generate', shell);
  runBlock(take('backup.md', 'keyreeve move'), shell);
  const { KEYREEVE_DATABASE_URL: _, ...others } = environment;
  const moved = { ...shell, environment: others };
  const list = `keyreeve account list\n`;
  assert.match(runBlock(`set -a\n${take('backup.md', 'KEYREEVE_DATABASE_URL=')}${list}`, moved), /you@example\.com/);
  assert.match(runBlock(take('cluster.md', 'export KEYREEVE_DATABASE_URL=') + list, moved), /you@example\.com/);
});

test('no block without a reason is left', () => operating.assertAllTaken(notTried));
