/** The admin listener: metrics and health. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { until } from '../../test-kit/until.ts';
import { basic, bearer, databaseIn, goodPassword, newProgram, runProcess } from './program.ts';
import { scrape } from './scrape.ts';

/** Another program waits until the service, which may be writing just then, has released the lock. */
const lockTimeout = { timeout: programMsMax };

test('metrics count verifications and sign-ins by result, and the time of database operations', async () => {
  await using program = await newProgram();
  const before = await scrape(program);
  const countedHere = /^keyreeve_(?!database|key_limit|key_usage)\w+_total\{/;
  const counters = [...before].filter(([name]) => countedHere.test(name));
  assert.ok(counters.length > 40);
  for (const [name, value] of counters) assert.equal(value, 0, name);
  assert.ok(before.has('process_resident_memory_bytes'));
  assert.equal(before.get('keyreeve_database_writes'), 1);
  assert.equal(before.get('keyreeve_database_commits_total{result="failed"}'), 0);

  // One sign-in.
  const { accessToken, refreshToken } = await program.signIn();
  const rejected = await program.call('POST', '/auth/token', basic('you@example.com', `${goodPassword}!`));
  assert.equal(rejected.status, 401);
  const { id, key } = await program.createKey(accessToken);
  const credentials = [key, key, accessToken, `${key}x`, refreshToken];
  for (const credential of credentials) await program.call('GET', '/auth/forward', bearer(credential));
  await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken));
  await program.call('GET', '/auth/forward', bearer(key));
  // Exchanges of the deleted key, and of a grant that does not exist.
  for (const grant_type of ['client_credentials', 'password']) {
    const form = new URLSearchParams({ grant_type, client_id: String(id), client_secret: key });
    await fetch(`${program.url}/auth/oauth/token`, { method: 'POST', body: form });
  }
  // A request without a credential is not counted as a verification.
  await program.call('GET', '/auth/forward');

  const after = await scrape(program);
  const changed = [...after].filter(
    ([name, value]) =>
      /_total\{/.test(name) && !/database|key_limit|key_usage/.test(name) && value !== before.get(name),
  );
  const route = (path: string, method: string, code: number, value: number): [string, number] => [
    `keyreeve_http_requests_total{route="${path}",method="${method}",code="${code}"}`,
    value,
  ];
  assert.deepEqual(Object.fromEntries(changed), {
    'keyreeve_sign_ins_total{result="accepted"}': 1,
    'keyreeve_sign_ins_total{result="refused"}': 1,
    'keyreeve_password_hashes_total{result="hashed"}': 2,
    'keyreeve_verifications_total{outcome="accepted",reason="access_token"}': 1,
    'keyreeve_verifications_total{outcome="accepted",reason="api_key"}': 2,
    'keyreeve_verifications_total{outcome="refused",reason="malformed"}': 1,
    'keyreeve_verifications_total{outcome="refused",reason="not_found"}': 2,
    'keyreeve_verifications_total{outcome="refused",reason="wrong_kind"}': 1,
    'keyreeve_exchanges_total{grant="client_credentials",result="not_found"}': 1,
    ...Object.fromEntries([
      route('/auth/oauth/token', 'POST', 400, 1),
      route('/auth/oauth/token', 'POST', 401, 1),
      route('/auth/token', 'POST', 200, 1),
      route('/auth/token', 'POST', 401, 1),
      route('/auth/api-keys', 'POST', 201, 1),
      route('/auth/api-keys/:id', 'DELETE', 200, 1),
      route('/auth/forward', 'GET', 200, 3),
      route('/auth/forward', 'GET', 401, 4),
    ]),
  });
  // The request without a credential has no duration.
  assert.equal(after.get('keyreeve_verification_duration_seconds_count{endpoint="forward"}'), 6);
  assert.equal(after.get('keyreeve_verification_duration_seconds_bucket{endpoint="forward",le="+Inf"}'), 6);
  assert.equal(after.get('keyreeve_http_request_duration_seconds_count{route="/auth/token",method="POST"}'), 2);
  for (const operation of ['read', 'commit']) {
    const durations = 'keyreeve_database_operation_duration_seconds';
    const count = after.get(`${durations}_count{operation="${operation}"}`) ?? 0;
    const sum = after.get(`${durations}_sum{operation="${operation}"}`) ?? 0;
    assert.ok(count >= 3 && sum > 0, `${operation}: ${count} in ${sum} s`);
  }
  assert.ok((after.get('keyreeve_event_loop_delay_max_seconds') ?? -1) >= 0);
  assert.deepEqual(
    [after.get('keyreeve_password_hashes_running'), after.get('keyreeve_password_hashes_waiting')],
    [0, 0],
  );
});

test('metrics have conventional names and plausible values', async (t) => {
  await using program = await newProgram();
  // Some metrics cover the time since the last scrape.
  for (let scrapes = 1; scrapes <= 2; scrapes++) {
    const page = await (await fetch(`${program.adminUrl}/metrics`)).text();
    const samples = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const sample of samples) {
      const value = Number(sample.slice(sample.lastIndexOf(' ') + 1));
      assert.ok(Number.isFinite(value) && value >= 0, sample);
      // A delay cannot exceed the lifetime of the process.
      if (/event_?loop/.test(sample)) assert.ok(value < 60, sample);
    }
    const { error, status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
    if (error === undefined) assert.deepEqual([status, stderr], [0, '']);
    else if (process.env['CI'] === 'true') throw error;
    else t.diagnostic('skipped: promtool is not installed');
  }
});

test('metrics and health show that the service cannot write while another program locks the database, and when it can again', async () => {
  await using program = await newProgram();
  const { key, accessToken } = await program.newKey();
  const ready = async () => {
    const response = await fetch(`${program.adminUrl}/health/ready`);
    return [response.status, await response.json()];
  };
  const writes = async () => (await scrape(program)).get('keyreeve_database_writes');
  assert.deepEqual([await ready(), await writes()], [[200, { status: 'ok', writes: true }], 1]);

  const other = new DatabaseSync(databaseIn(program.folder), lockTimeout);
  other.exec('begin immediate');
  const json = { nickname: 'second' };
  assert.equal((await program.call('POST', '/auth/api-keys', bearer(accessToken), json)).status, 503);
  assert.deepEqual([await ready(), await writes()], [[200, { status: 'ok', writes: false }], 0]);
  assert.ok(((await scrape(program)).get('keyreeve_database_commits_total{result="failed"}') ?? 0) > 0);
  assert.deepEqual((await program.call('GET', '/health/ready')).json, { status: 'ok', writes: false });
  assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);

  other.exec('rollback');
  other.close();
  await until('changes succeed again', async () => (await writes()) === 1);
  assert.deepEqual(await ready(), [200, { status: 'ok', writes: true }]);
  assert.equal((await program.call('POST', '/auth/api-keys', bearer(accessToken), json)).status, 201);
});

test('a metric has the time of the last backup, which succeeds also while its time cannot be recorded', async () => {
  await using program = await newProgram();
  const lastBackup = async () => (await scrape(program)).get('keyreeve_backup_last_success_timestamp_seconds');
  assert.equal(await lastBackup(), 0);
  const startedAt = Date.now();
  const first = await program.command(['backup', '--to', 'first.gz']);
  assert.deepEqual([first.status, first.stderr], [0, '']);
  const recorded = (await lastBackup()) ?? 0;
  assert.ok(recorded * 1_000 >= startedAt && recorded * 1_000 <= Date.now(), String(recorded));

  using other = new DatabaseSync(databaseIn(program.folder), lockTimeout);
  other.exec('begin immediate');
  // It waits some seconds for the lock.
  const second = await runProcess(['backup', '--to', 'second.gz'], { folder: program.folder });
  assert.equal(second.status, 0, second.stderr);
  assert.match(
    second.stderr,
    /^keyreeve: the backup is complete, but its time could not be recorded for the metrics: /,
  );
  assert.ok(existsSync(join(program.folder, 'second.gz')));
  other.exec('rollback');
  assert.equal(await lastBackup(), recorded);
});
