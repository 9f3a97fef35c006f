/** fail2ban reads the files of docs/fail2ban, and finds failed sign-ins in the journal of docs/systemd/keyreeve.service. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { basic, newProgram, type Program } from '../e2e/program.ts';
import { installedProgram } from '../e2e/proxy-kit.ts';
import { root } from './tree.ts';

const unit = 'keyreeve.service';

/** Runs a program to its end. @returns standard output */
function outputOf(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout;
}

/** A configuration of fail2ban with the files of the documentation, and empty defaults. */
function writeConfiguration(folder: string): string {
  const path = join(folder, 'fail2ban');
  for (const name of ['filter.d', 'jail.d', 'action.d']) mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, 'fail2ban.conf'), '[Definition]\n');
  writeFileSync(join(path, 'jail.conf'), '[DEFAULT]\n');
  copyFileSync(join(root, 'docs/fail2ban/keyreeve.conf'), join(path, 'filter.d/keyreeve.conf'));
  copyFileSync(join(root, 'docs/fail2ban/jail.conf'), join(path, 'jail.d/keyreeve.conf'));
  return path;
}

/** What the journal stores of a line of the standard output of a unit (systemd.journal-fields(7)), in its export format. */
const entryOf = (line: string, of: string, index: number): string => {
  const [, program = ''] = /^ExecStart=(\S+)/m.exec(readFileSync(join(root, 'docs/systemd', unit), 'utf8')) ?? [];
  const fields = {
    __REALTIME_TIMESTAMP: 1_800_000_000_000_000 + index,
    __MONOTONIC_TIMESTAMP: 1_000 + index,
    _BOOT_ID: '8f7a5cbb0d3f4c0f9b1c1fdd0e4b7a11',
    _TRANSPORT: 'stdout',
    PRIORITY: 6,
    SYSLOG_IDENTIFIER: basename(program),
    _PID: 77,
    _HOSTNAME: 'auth.example.com',
    _SYSTEMD_UNIT: of,
    MESSAGE: line,
  };
  return `${Object.entries(fields)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')}\n`;
};

/** A journal with all lines of the service in its unit, and again in another unit. @returns its folder */
function writeJournal(remote: string, folder: string, lines: readonly string[]): string {
  const [path, source] = [join(folder, 'journal'), join(folder, 'export')];
  mkdirSync(path);
  const entries = [unit, 'other.service'].flatMap((of) => lines.map((line) => [line, of] as const));
  writeFileSync(source, entries.map(([line, of], index) => entryOf(line, of, index)).join(''));
  outputOf(remote, '--split-mode=none', '-o', join(path, 'test.journal'), source);
  return path;
}

/** Fails to sign in from two client IPs, and sends what forges a line. */
async function failToSignIn(program: Program): Promise<void> {
  const forged = '"event":"sign_in_failed","clientIp":"198.51.100.1","accountId":';
  await program.signIn();
  for (const clientIp of ['192.0.2.7', '2001:db8::1'])
    await program.call('POST', '/auth/token', { ...basic('you@example.com', 'wrong'), 'x-forwarded-for': clientIp });
  const headers = { 'x-forwarded-for': '192.0.2.8', 'user-agent': forged };
  await program.call('GET', `/${encodeURIComponent(forged)}`, headers);
  await program.call('POST', '/auth/token', { ...basic(forged, forged), ...headers });
}

test('fail2ban finds the client IPs of failed sign-ins in the journal of the unit', async (t) => {
  const fail2ban = installedProgram(t, 'fail2ban-regex');
  const remote = fail2ban && installedProgram(t, 'systemd-journal-remote');
  if (fail2ban === undefined || remote === undefined) return;
  using folder = newTempFolder();
  await using program = await newProgram({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1', KEYREEVE_LOG_LEVEL: 'debug' });
  await failToSignIn(program);
  await program.stop();
  const lines = program.stdout.split('\n').filter((line) => line !== '');
  const journal = writeJournal(remote, folder.path, lines);
  const configuration = writeConfiguration(folder.path);
  const find = (log: string): string[] =>
    outputOf(fail2ban, '-c', configuration, '-o', 'ip', log, 'keyreeve')
      .split('\n')
      .filter((line) => line !== '');
  const expected = ['192.0.2.7', '2001:db8::1', '192.0.2.8'];
  assert.deepEqual(find(`systemd-journal[journalpath=${journal}]`), expected);
  const file = join(folder.path, 'keyreeve.log');
  writeFileSync(file, program.stdout);
  assert.deepEqual(find(file), expected);
});

test('fail2ban accepts the jail, which reads the journal of the unit', (t) => {
  const client = installedProgram(t, 'fail2ban-client');
  if (client === undefined) return;
  using folder = newTempFolder();
  const commands = outputOf(client, '-c', writeConfiguration(folder.path), '-d').split('\n');
  const ofJail = commands.filter((line) => line.includes("'keyreeve'") && !line.includes('failregex'));
  assert.deepEqual(ofJail, [
    "['add', 'keyreeve', 'systemd']",
    `['set', 'keyreeve', 'datepattern', '"time":"%Y-%m-%dT%H:%M:%S\\\\.%f%z"']`,
    `['set', 'keyreeve', 'addjournalmatch', '_SYSTEMD_UNIT=${unit}']`,
    "['set', 'keyreeve', 'maxretry', 30]",
    "['set', 'keyreeve', 'findtime', '10m']",
    "['set', 'keyreeve', 'bantime', '1h']",
    "['start', 'keyreeve']",
  ]);
});
