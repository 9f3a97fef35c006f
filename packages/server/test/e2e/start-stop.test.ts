/** The start of the service: data, log, conflicts with other processes. `drain.test.ts` covers its end. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { holdingDrain } from './held-drain-program.ts';
import {
  basic,
  bearer,
  databaseIn,
  environmentFor,
  goodPassword,
  keyreeveBin,
  newProgram,
  runProcess,
  startProgram,
} from './program.ts';
import { assertOneKey, assertOneMigrates, migrations } from './simultaneous-starts.ts';
import { noTerminal, Terminal } from './terminal.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const modeOf = (path: string): number => statSync(path).mode & 0o777;

test(
  'in an empty folder it creates its data, readable only by its user, and logs the paths in one record',
  { tags: ['asvs:13.3.2'] },
  async () => {
    using folder = newTempFolder();
    const database = databaseIn(folder.path);
    await using first = await startProgram(folder.path);
    const [migrated, listening, ...more] = first.records();
    assert.deepEqual(more, []);
    assert.deepEqual([migrated?.['event'], migrated?.['migrations']], ['migrated', migrations]);
    const { time, pid, url, adminUrl, ...rest } = listening ?? {};
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(pid, first.child.pid);
    assert.match(String(url), /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(String(adminUrl), /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual(rest, {
      level: 'info',
      event: 'listening',
      version,
      build: 'sources',
      publicUrl: `http://localhost:${new URL(String(url)).port}`,
      database,
      masterKeyFile: `${database}.master-key`,
      firstAdministratorFile: `${database}.first-administrator`,
    });
    assert.equal((await first.call('GET', '/health/ready')).text, '{"status":"ok","writes":true}');
    assert.deepEqual(
      [
        dirname(database),
        database,
        ...['-wal', '.master-key', '.first-administrator'].map((suffix) => `${database}${suffix}`),
      ].map(modeOf),
      [0o700, 0o600, 0o600, 0o600, 0o600],
    );
    const { status, stderr } = await first.stop();
    assert.deepEqual([status, stderr], [0, '']);

    await using second = await startProgram(folder.path);
    assert.deepEqual(
      second.records().map(({ event }) => event),
      ['listening'],
    );
  },
);

test('accounts that commands create or disable are effective in the running service immediately', async () => {
  await using program = await newProgram();
  const { accessToken } = await program.signIn('you@example.com');
  const list = () => program.call('GET', '/auth/api-keys', bearer(accessToken));
  assert.equal((await list()).status, 200);
  assert.equal((await program.command(['account', 'disable', 'you@example.com'])).status, 0);
  assert.equal((await list()).status, 401);
  const again = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
  assert.equal(again.status, 401);
});

test('a port in use is reported in one line with status 1', async () => {
  await using program = await newProgram();
  for (const [name, url] of [
    ['KEYREEVE_PORT', program.url],
    ['KEYREEVE_ADMIN_PORT', program.adminUrl],
  ] as const) {
    const { port } = new URL(url);
    const late = await runProcess(['serve'], { folder: program.folder, environment: { [name]: port } });
    assert.deepEqual(late, {
      status: 1,
      stdout: '',
      stderr: `keyreeve: listen EADDRINUSE: address already in use 127.0.0.1:${port}: another program uses this port; set KEYREEVE_PORT or KEYREEVE_ADMIN_PORT\n`,
    });
  }
  assert.equal((await program.call('GET', '/health/ready')).status, 200);
});

test('an IP address of another machine is reported in one line with status 1', async () => {
  using folder = newTempFolder();
  const environment = { KEYREEVE_HOST: '192.0.2.1', KEYREEVE_TRUSTED_PROXIES: '192.0.2.2' };
  const { status, stdout, stderr } = await runProcess(['serve'], { folder: folder.path, environment });
  assert.deepEqual([status, stdout.includes('listening')], [1, false]);
  assert.match(stderr, /^keyreeve: listen EADDRNOTAVAIL: address not available 192\.0\.2\.1.*\n$/);
});

test('processes that start simultaneously in an empty folder use one master key and one signing key', assertOneKey);

test('of several simultaneous migrations one applies the schema, and the others find it up to date', assertOneMigrates);

suite('on a terminal', { skip: noTerminal }, () => {
  test(
    'on a terminal it prints URLs, paths and the next commands, logs to a redirected output, and stops at Ctrl-C immediately',
    { tags: ['asvs:16.2.3'] },
    async () => {
      using folder = newTempFolder();
      // Without a terminal, it drains for four seconds. Here, the half of such a drain would never end.
      const settings = { ...holdingDrain(4), KEYREEVE_CONSOLE: 'off' };
      const { KEYREEVE_DRAIN_SECONDS: _, ...environment } = environmentFor(folder.path, settings);
      await using terminal = Terminal.start(
        `'${process.execPath}' '${keyreeveBin}' serve > log`,
        folder.path,
        environment,
      );
      await terminal.shows('/auth/token\r\n');
      const greeting = terminal.stdout;
      terminal.child.stdin?.write('\u0003');
      assert.equal((await terminal.exited()).status, 0);

      const log = readFileSync(join(folder.path, 'log'), 'utf8').trimEnd().split('\n');
      const byEvent = new Map(
        log.map((line) => JSON.parse(line) as Record<string, string>).map((it) => [it['event'], it]),
      );
      assert.deepEqual([...byEvent.keys()], ['migrated', 'listening', 'stopping', 'audit_checkpoint', 'stopped']);
      const { url, adminUrl, database, build } = byEvent.get('listening') ?? {};
      assert.equal(
        greeting.replaceAll('\r\n', '\n'),
        [
          `Keyreeve ${version} (${build}) listens on ${url} (metrics and health on ${adminUrl}).`,
          `Database: ${database}. Master key: ${database}.master-key. Back up both, in different places.`,
          `Documentation: ${url}/docs. Press Ctrl-C to stop.`,
          'Next, in another terminal:',
          '  npx --no-install keyreeve account create you@example.com',
          `  curl -X POST -u you@example.com ${url}/auth/token`,
          '',
        ].join('\n'),
      );
    },
  );
});
