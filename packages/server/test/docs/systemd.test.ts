/** The units of docs/deploy.md restrict the service and the backup, and their settings are those that the page prepares. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { root } from './tree.ts';

const path = join(root, 'docs/systemd/keyreeve.service');
const unit = readFileSync(path, 'utf8');
const page = readFileSync(join(root, 'docs/deploy.md'), 'utf8');
/** From 0 (fully restricted) to 10. */
const exposureMax = 1.5;

const settingsIn = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

const settingsOf = (name: string): string[] => settingsIn(unit, name);

/** Without systemd, the test is named as not tried, and fails in CI. */
function analyze(t: TestContext, ...args: readonly string[]): { status: number | null; output: string } | undefined {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  if (error === undefined) return { status, output: stdout + stderr };
  assert.notEqual(process.env['CI'], 'true', 'systemd is not installed, but CI requires it');
  t.diagnostic('not tried: systemd is not installed');
  return undefined;
}

for (const name of ['keyreeve', 'keyreeve-backup'])
  test(`systemd rates the exposure of ${name}.service at ${exposureMax} at most`, (t) => {
    const file = join(root, `docs/systemd/${name}.service`);
    const result = analyze(t, 'security', '--offline=true', '--no-pager', file);
    if (!result) return;
    const exposure = /Overall exposure level for [\w-]+\.service: ([\d.]+)/.exec(result.output)?.[1];
    assert.ok(exposure !== undefined, result.output);
    assert.ok(Number(exposure) <= exposureMax, result.output);
  });

test('the command has the settings of the unit, which those of the file replace', () => {
  using folder = newTempFolder();
  const script = [
    ['runuser -u keyreeve -- ', ''],
    ['/var/lib/keyreeve', folder.path],
    ['/etc/keyreeve', folder.path],
    ['node /opt/keyreeve/current/node_modules/keyreeve/bin/keyreeve.js', 'env'],
  ].reduce((text, [shown = '', real = '']) => text.replaceAll(shown, real), textOf('keyreeve.sh'));
  const settingsWith = (file: string): string[] => {
    writeFileSync(join(folder.path, 'keyreeve.env'), file);
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
    assert.equal(status, 0, stderr);
    return stdout
      .split('\n')
      .filter((line) => line.startsWith('KEYREEVE_'))
      .toSorted();
  };
  const key = `KEYREEVE_MASTER_KEY_FILE=${folder.path}/master-key`;
  assert.deepEqual(settingsWith(''), [`KEYREEVE_DATABASE_URL=sqlite:${folder.path}/keyreeve.db`, key]);
  // As in the unit, where EnvironmentFile= replaces Environment=.
  const database = 'KEYREEVE_DATABASE_URL=postgres://keyreeve@127.0.0.1/keyreeve';
  assert.deepEqual(settingsWith(`${database}\n`), [database, key]);
});

/** Beside the backup's unit, because the timer names it. */
const others = ['keyreeve-backup.service', 'keyreeve-backup.timer'];
const textOf = (name: string): string => readFileSync(join(root, 'docs/systemd', name), 'utf8');

test('systemd accepts every line of the units', (t) => {
  // The program and the files that the page installs.
  using folder = newTempFolder();
  const executable = join(folder.path, 'usr/bin/node');
  mkdirSync(dirname(executable), { recursive: true });
  writeFileSync(executable, '#!/bin/sh\n', { mode: 0o755 });
  const withExecutable = (text: string): string => text.replace('ExecStart=/usr/bin/node', `ExecStart=${executable}`);
  const copy = join(folder.path, 'keyreeve.service');
  writeFileSync(copy, withExecutable(unit));
  const copies = others.map((name) => join(folder.path, name));
  for (const name of others) writeFileSync(join(folder.path, name), withExecutable(textOf(name)));
  const dropIns = join(folder.path, 'keyreeve-backup.service.d');
  mkdirSync(dropIns);
  writeFileSync(join(dropIns, 'storage.conf'), withExecutable(textOf('storage.conf')));
  const verify = (): ReturnType<typeof analyze> =>
    analyze(t, 'verify', '--man=no', '--recursive-errors=no', copy, ...copies);
  const result = verify();
  if (!result) return;
  assert.deepEqual(result, { status: 0, output: '' });
  for (const file of [copy, join(dropIns, 'storage.conf')]) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `${text}\nUnknown=yes\n`);
    assert.match(verify()?.output ?? '', /Unknown (?:key|lvalue)/i);
    writeFileSync(file, text);
  }
});

test('the unit stops after the service has drained, and the page prepares the files and the user that it names', () => {
  const [drainSeconds] = /KEYREEVE_DRAIN_SECONDS, which is (\d+)/.exec(unit)?.slice(1).map(Number) ?? [];
  assert.ok(Number(settingsOf('TimeoutStopSec')[0]) > Number(drainSeconds));
  assert.deepEqual(settingsOf('KillMode'), ['mixed']);
  // `systemd-notify` is not the main process.
  assert.deepEqual([settingsOf('Type'), settingsOf('NotifyAccess')], [['notify'], ['all']]);
  // A cause that ends by itself, such as a full disk, must not stop the restarts.
  assert.deepEqual([settingsOf('Restart'), settingsOf('StartLimitIntervalSec')], [['on-failure'], ['0']]);
  assert.deepEqual(settingsOf('Environment'), [
    'KEYREEVE_DATABASE_URL=sqlite:/var/lib/keyreeve/keyreeve.db',
    'KEYREEVE_MASTER_KEY_FILE=%d/master-key',
  ]);
  const [, credential = ''] = settingsOf('LoadCredential')[0]?.split(':') ?? [];
  const [, script = ''] = settingsOf('ExecStart')[0]?.split(' ') ?? [];
  const [, folder = ''] = /^(\/opt\/\w+)\/current\/node_modules\/keyreeve\/bin\/keyreeve\.js$/.exec(script) ?? [];
  assert.deepEqual(
    [
      `npm install --prefix ${folder}/$version /root/$version.tgz`,
      `ln -sfn $version ${folder}/current`,
      `cp ${folder}/current/node_modules/keyreeve/docs/systemd/keyreeve.service /etc/systemd/system/`,
      `> ${credential}`,
      settingsOf('EnvironmentFile')[0] ?? '',
      `useradd --system --home-dir ${settingsOf('WorkingDirectory')[0]} --shell /usr/sbin/nologin ${settingsOf('User')[0]}`,
    ].filter((text) => text === '' || !page.includes(text)),
    [],
  );
});

test('the backup has the database, the key and the sandbox of the service, and the page prepares its folder', () => {
  const backup = textOf('keyreeve-backup.service');
  const programOf = (text: string): string => settingsIn(text, 'ExecStart').at(-1)?.split(' --to ')[0] ?? '';
  assert.equal(programOf(textOf('storage.conf')), programOf(backup));
  const linesOf = (text: string): string[] => text.split('\n').filter((line) => /^\w+=/.test(line));
  const [, folder = ''] = /backup --to (\S+) --keep \d+$/m.exec(backup) ?? [];
  const onlyService =
    /^(?:Description|Documentation|After|Wants|Type|NotifyAccess|WatchdogSec|ExecStart|KillMode|Timeout\w+Sec|Restart\w*|StartLimit\w*|LimitNOFILE|WantedBy)=/;
  assert.deepEqual(
    linesOf(unit).filter((line) => !onlyService.test(line) && !linesOf(backup).includes(line)),
    [],
  );
  // The pages have this folder as a deletion journal on another disk. Without `-`, it would have to exist.
  assert.deepEqual(settingsOf('ReadWritePaths'), ['-/srv/keyreeve/deletions']);
  assert.deepEqual(settingsIn(backup, 'ReadWritePaths'), ['-/srv/keyreeve/deletions', folder]);
  for (const text of [page, readFileSync(join(root, 'docs/cluster.md'), 'utf8')])
    assert.match(text, /KEYREEVE_DELETION_JOURNAL=\/srv\/keyreeve\/deletions/);
  assert.ok(page.includes(`install -d -o keyreeve -g keyreeve -m 0700 ${folder}`));
});
