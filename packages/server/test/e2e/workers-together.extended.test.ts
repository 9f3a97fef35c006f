/** Several workers: sessions, limits, metrics and health of all of them. `workers.test.ts` proves the revocation. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { test as testOnEach, testOnBoth } from '../../test-kit/app-on-each-database.ts';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { ageSessions } from '../../test-kit/age-sessions.ts';
import { failRegex } from '../../test-kit/fail2ban-filter.ts';
import { until } from '../../test-kit/until.ts';
import { type Connection, connectionsTo, killAndAwaitNext, pidsOf, withDatabase } from './worker-pool.ts';
import { basic, bearer, goodPassword, newProgram, type Program } from './program.ts';
import { scrape } from './scrape.ts';

/** Of one email address. Their delays together are longer than the test takes. */
const signInsMax = 20;

testOnBoth(
  'a sign-out at one worker ends the session at all, and simultaneous refreshes at all workers rotate the token once',
  withDatabase(async (onDatabase) => {
    await using program = await newProgram({ ...onDatabase, KEYREEVE_WORKERS: '2' });
    const { refreshToken } = await program.signIn();
    await ageSessions(program.environment['KEYREEVE_DATABASE_URL'] ?? '');
    const connections = await connectionsTo(program);
    const [first, second] = connections;
    const rivals = await Promise.all(
      Array.from({ length: 16 }, (_, rival) =>
        (connections[rival % 2] ?? first).call('POST', '/auth/token/refresh', {}, { refreshToken }),
      ),
    );
    // Within the grace period all receive the same successor.
    assert.deepEqual(new Set(rivals.map(({ status }) => status)), new Set([200]));
    const successors = new Set(rivals.map(({ json }) => (json as { refreshToken: string }).refreshToken));
    assert.deepEqual([successors.size, successors.has(refreshToken)], [1, false]);

    const { accessToken, refreshToken: another } = (
      await second.call('POST', '/auth/token', basic('you@example.com', goodPassword))
    ).json as { accessToken: string; refreshToken: string };
    const list = (it: Connection) => it.call('GET', '/auth/api-keys', bearer(accessToken));
    assert.deepEqual([(await list(first)).status, (await list(second)).status], [200, 200]);
    assert.equal((await first.call('POST', '/auth/token/revoke', {}, { refreshToken: another })).status, 204);
    assert.deepEqual([(await list(first)).status, (await list(second)).status], [401, 401]);
    for (const it of connections) it[Symbol.dispose]();
  }),
);

testOnEach(
  'workers count failed sign-ins and creations together',
  withDatabase(async (onDatabase) => {
    await using program = await newProgram({
      ...onDatabase,
      KEYREEVE_WORKERS: '2',
      KEYREEVE_CREATIONS_PER_MINUTE_MAX: '4',
    });
    const { accessToken } = await program.signIn('you@example.com');
    const connections = await connectionsTo(program);
    const through = (attempt: number): Connection => connections[attempt % 2] ?? connections[0];
    // The limits apply to an email address without a trusted address range. After the free failures, one more is checked after
    // each delay, and delays double: on a busy machine, a delay can pass between two attempts.
    const signIns: number[] = [];
    const startedAt = monotonicMs();
    while (signIns.at(-1) !== 429 && signIns.length < signInsMax) {
      const headers = basic('unknown@example.com', goodPassword);
      signIns.push((await through(signIns.length).call('POST', '/auth/token', headers)).status);
    }
    const seconds = (monotonicMs() - startedAt) / 1_000;
    const delays = Math.floor(Math.log2(1 + seconds / limits.signInPairDelaySecondsFirst));
    const checked = signIns.length - 1;
    assert.deepEqual(signIns, [...Array.from({ length: checked }, () => 401), 429]);
    const free = limits.signInPairFreeFailures;
    assert.ok(checked >= free && checked <= free + delays, `${checked} in ${seconds} s`);

    const creations: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const json = { nickname: `key ${attempt}` };
      creations.push((await through(attempt).call('POST', '/auth/api-keys', bearer(accessToken), json)).status);
    }
    assert.deepEqual(creations, [201, 201, 201, 201, 429]);
    for (const it of connections) it[Symbol.dispose]();
  }),
);

test('the fail2ban filter finds the client IP of a failed sign-in in the log of any worker', async () => {
  await using program = await newProgram({ KEYREEVE_WORKERS: '2', KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' });
  const connections = await connectionsTo(program);
  for (const [index, it] of connections.entries()) {
    const headers = { ...basic('unknown@example.com', goodPassword), 'x-forwarded-for': `192.0.2.${index}` };
    assert.equal((await it.call('POST', '/auth/token', headers)).status, 401);
  }
  const found = await program.waitFor('both failures', () => {
    const lines = program.stdout.split('\n').filter((line) => line.includes('sign_in_failed'));
    return lines.length < 2 ? undefined : lines;
  });
  assert.deepEqual(
    found.map((line) => failRegex().exec(line)?.groups?.['address']),
    ['192.0.2.0', '192.0.2.1'],
  );
  for (const it of connections) it[Symbol.dispose]();
});

const ofKeys = 'keyreeve_verifications_total{outcome="accepted",reason="api_key"}';
const ofUnknown = 'keyreeve_verifications_total{outcome="refused",reason="not_found"}';

test('metrics are sums over all workers and do not decrease when one ends; metrics of a process name its worker', async () => {
  await using program = await newProgram({ KEYREEVE_WORKERS: '2' });
  const { key } = await program.newKey();
  const [first, second] = await connectionsTo(program);
  await scrapeUntil(program, ofKeys, 0);
  await first.verify(key, 5);
  await second.verify(key, 7);
  const after = await scrapeUntil(program, ofKeys, 12);
  assert.equal(after.get(ofUnknown), 0);
  assert.equal(after.get('keyreeve_sign_ins_total{result="accepted"}'), 1);
  const reads = 'keyreeve_database_operation_duration_seconds_count{operation="read"}';
  assert.ok((after.get(reads) ?? 0) >= 12);
  const workers = ['configured', 'listening', 'replaced_total'].map((name) => after.get(`keyreeve_workers_${name}`));
  assert.deepEqual(workers, [2, 2, 0]);
  const forwards = 'keyreeve_http_requests_total{route="/auth/forward",method="GET",code="200"}';
  const durations = 'keyreeve_verification_duration_seconds_count{endpoint="forward"}';
  assert.deepEqual([after.get(forwards), after.get(durations)], [12, 12]);
  // One worker reports what the database has.
  assert.deepEqual(
    ['accounts', 'api_keys'].map((name) => after.get(`keyreeve_${name}`)),
    [1, 1],
  );
  assert.equal(after.get('keyreeve_deletion_journal_lag_seconds'), 0);
  for (const worker of ['1', '2', 'supervisor']) {
    assert.ok((after.get(`process_resident_memory_bytes{worker="${worker}"}`) ?? 0) > 0, worker);
  }
  for (const worker of ['1', '2']) assert.ok(after.has(`keyreeve_event_loop_delay_max_seconds{worker="${worker}"}`));

  await killAndAwaitNext(program, 2);
  const replaced = await scrape(program);
  assert.deepEqual([replaced.get(ofKeys), replaced.get(forwards), replaced.get(durations)], [12, 12, 12]);
  assert.ok((replaced.get(reads) ?? 0) >= (after.get(reads) ?? 0));
  assert.deepEqual(
    [replaced.get('keyreeve_workers_listening'), replaced.get('keyreeve_workers_replaced_total')],
    [2, 1],
  );
  const [, next] = await connectionsTo(program);
  await next.verify(key, 3);
  await scrapeUntil(program, ofKeys, 15);
  for (const it of [first, second, next]) it[Symbol.dispose]();
});

/** The first page with this value: a page has earlier metrics of a worker that does not respond in time. */
async function scrapeUntil(program: Program, name: string, value: number): Promise<Map<string, number>> {
  let page = new Map<string, number>();
  await until(`${name} is ${value}`, async () => {
    page = await scrape(program);
    return page.get(name) === value;
  });
  return page;
}

/** On a new connection. */
async function verifyOnNewConnection({ url }: Program, key: string): Promise<number | undefined> {
  const sent = request(`${url}/auth/forward`, { agent: false, headers: bearer(key) }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test('while a worker is paused, the others serve new connections, and metrics and health do not wait for it', async () => {
  await using program = await newProgram({ KEYREEVE_WORKERS: '2' });
  const { key } = await program.newKey();
  const pid = pidsOf(program).get(1) ?? assert.fail();
  await scrape(program);
  process.kill(pid, 'SIGSTOP');
  try {
    const answers = await Promise.all(Array.from({ length: 40 }, () => verifyOnNewConnection(program, key)));
    assert.deepEqual(new Set(answers), new Set([200]));
    await scrapeUntil(program, ofKeys, 40);
    assert.equal((await fetch(`${program.adminUrl}/health/ready`)).status, 200);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});
