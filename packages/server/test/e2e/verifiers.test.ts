/** A service with processes that only verify: their listener, revocation, limits, counts, and their life. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { UsageEntry } from '@keyreeve/contract';
import { testOnBoth } from '../../test-kit/app-on-each-database.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { pipelined, pipelinedRequests } from '../../test-kit/pipelined-requests.ts';
import { head } from '../../test-kit/raw-http.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { bearer, newProgram, startProgram, type Program } from './program.ts';
import { scrape } from './scrape.ts';
import {
  assertRejectsTokensOfRevokedKeys,
  createLimitedKey,
  createServiceKey,
  ended,
  forwardAt,
  killMain,
  pidOf,
  pidsOf,
  stopProcess,
  VerifyConnection,
  verifyUrlOf,
  withVerifier,
} from './verifier-kit.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

/** The status of each route of verifications at a listener. */
async function statusesAt(url: string, key: string, serviceKey: string): Promise<(number | undefined)[]> {
  using connection = new VerifyConnection(url);
  const asService = bearer(serviceKey);
  const answers = [
    await connection.call('GET', '/auth/forward', bearer(key)),
    await connection.call('POST', '/auth/verify', { ...asService, ...json }, JSON.stringify({ credential: key })),
    await connection.call(
      'POST',
      '/auth/verify/batch',
      { ...asService, ...json },
      JSON.stringify({ credentials: [key] }),
    ),
    await connection.call('POST', '/auth/introspect', { ...asService, ...form }, `token=${key}`),
  ];
  for (const { status, body } of answers.slice(1)) if (status === 200) assert.match(body, /"(?:valid|active)":true/);
  return answers.map(({ status }) => status);
}

test('the listener of verifiers answers the four routes of verifications and health, and nothing else', async () => {
  await using program = await newProgram(withVerifier);
  const { key, accessToken } = await program.newKey();
  const serviceKey = await createServiceKey(program);
  const url = verifyUrlOf(program);
  for (const each of [url, program.url])
    assert.deepEqual(await statusesAt(each, key, serviceKey), [200, 200, 200, 200]);
  using connection = new VerifyConnection(url);
  assert.equal(await connection.forward(accessToken), 200);
  for (const path of ['/health/live', '/health/ready'])
    assert.equal((await connection.call('GET', path)).status, 200, path);
  const others = [
    ['POST', '/auth/token'],
    ['GET', '/auth/api-keys'],
    ['GET', '/.well-known/jwks.json'],
    ['GET', '/console'],
    ['GET', '/docs'],
    ['GET', '/metrics'],
    ['POST', '/auth/verify/other'],
  ] as const;
  for (const [method, path] of others)
    assert.equal((await connection.call(method, path, bearer(accessToken))).status, 404, path);
});

test('with KEYREEVE_PUBLIC_PORT_VERIFIES=off, only the listener of verifiers verifies', async () => {
  await using program = await newProgram({ ...withVerifier, KEYREEVE_PUBLIC_PORT_VERIFIES: 'off' });
  const { key } = await program.newKey();
  const serviceKey = await createServiceKey(program);
  assert.deepEqual(await statusesAt(program.url, key, serviceKey), [404, 404, 404, 404]);
  assert.deepEqual(await statusesAt(verifyUrlOf(program), key, serviceKey), [200, 200, 200, 200]);
});

testOnBoth('a key works at every verifier at once, and a deleted key at none', async () => {
  await using place = await newPlace();
  await using program = await newProgram({ ...place.environment, ...withVerifier, KEYREEVE_VERIFIERS: '2' });
  const { accessToken } = await program.signIn();
  const connections = Array.from({ length: 8 }, () => new VerifyConnection(verifyUrlOf(program)));
  for (let round = 0; round < 10; round++) {
    const { id, key } = await program.createKey(accessToken, `key ${round}`);
    assert.deepEqual(new Set(await Promise.all(connections.map((each) => each.forward(key)))), new Set([200]));
    assert.equal((await program.call('DELETE', `/auth/api-keys/${id}`, bearer(accessToken))).status, 200);
    assert.deepEqual(new Set(await Promise.all(connections.map((each) => each.forward(key)))), new Set([401]));
  }
  for (const connection of connections) connection[Symbol.dispose]();
  assert.equal((await program.stop()).status, 0);
});

testOnBoth('verifiers reject the access tokens of revoked signing keys at once', async () => {
  await using place = await newPlace();
  await using program = await newProgram({ ...place.environment, ...withVerifier, KEYREEVE_VERIFIERS: '2' });
  await assertRejectsTokensOfRevokedKeys(program);
});

testOnBoth('both listeners together accept no more than a limit', async () => {
  await using place = await newPlace();
  await using program = await newProgram({ ...place.environment, ...withVerifier, KEYREEVE_VERIFIERS: '2' });
  const { accessToken } = await program.signIn();
  const quota = 60;
  const { key } = await createLimitedKey(program, accessToken, { quota: { limit: quota, per: 'ever' } });
  const urls = [program.url, verifyUrlOf(program), verifyUrlOf(program)];
  const statuses = await Promise.all(Array.from({ length: 180 }, (_, n) => forwardAt(urls[n % 3] ?? '', key)));
  const accepted = statuses.filter((status) => status === 200).length;
  assert.ok(accepted > 0 && accepted <= quota, String(accepted));
  assert.deepEqual(new Set(statuses), new Set([200, 429]));
});

testOnBoth(
  'at both listeners, a verification is counted once and spends a limit once, also if requests are pipelined',
  async () => {
    await using place = await newPlace();
    await using program = await newProgram({ ...place.environment, ...withVerifier });
    const { accessToken } = await program.signIn();
    const connections = 8;
    const limit = pipelinedRequests * connections;
    const urls = [program.url, verifyUrlOf(program)];
    for (const url of urls) {
      // Each process holds drawn tokens, so each gets a key of its own.
      const { key } = await createLimitedKey(program, accessToken, { quota: { limit, per: 'ever' } });
      const request = head('GET /auth/forward HTTP/1.1', 'Host: a', `Authorization: Bearer ${key}`);
      const port = Number(new URL(url).port);
      const statuses = await Promise.all(Array.from({ length: connections }, () => pipelined(port, request)));
      assert.deepEqual(new Set(statuses.flat()), new Set([200]), url);
      assert.equal(await forwardAt(url, key), 429);
    }
    await until('both processes have counted', async () => (await acceptedIn(program)) === limit * urls.length);
  },
);

testOnBoth('usage and last uses of verifiers are recorded, also those before an orderly stop', async () => {
  await using place = await newPlace();
  using folder = newTempFolder();
  const environment = { ...place.environment, ...withVerifier, KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };
  await using program = await startProgram(folder.path, environment);
  const { id, key, accessToken } = await program.newKey();
  using connection = new VerifyConnection(verifyUrlOf(program));
  for (let count = 0; count < 5; count++) assert.equal(await connection.forward(key), 200);
  assert.equal(await forwardAt(program.url, key), 200);
  connection[Symbol.dispose]();
  assert.equal((await program.stop()).status, 0, program.stderr);
  const { stdout } = await program.command(['key', 'usage', String(id), '--json']);
  assert.equal(
    (JSON.parse(stdout) as UsageEntry[]).reduce((sum, { accepted }) => sum + accepted, 0),
    6,
  );
  await using again = await startProgram(folder.path, environment);
  const shown = await again.call('GET', `/auth/api-keys/${id}`, bearer(accessToken));
  assert.equal(typeof (shown.json as { lastUsedAt: unknown }).lastUsedAt, 'string', shown.text);
});

/** The accepted keys of all processes. */
const acceptedIn = async (program: Program): Promise<number> =>
  (await scrape(program)).get('keyreeve_verifications_total{outcome="accepted",reason="api_key"}') ?? -1;

test('metrics are sums that do not fall when a verifier is killed, which loses only its connections', async () => {
  await using program = await newProgram(withVerifier);
  const { key } = await program.newKey();
  const url = verifyUrlOf(program);
  for (let count = 0; count < 10; count++) assert.equal(await forwardAt(url, key), 200);
  assert.equal(await forwardAt(program.url, key), 200);
  await until('the verifier has reported', async () => (await acceptedIn(program)) === 11);
  const pid = pidOf(program);
  process.kill(pid, 'SIGKILL');
  await ended(pid);
  // It waits for the replacement, because the main process keeps the socket.
  assert.equal(await forwardAt(url, key), 200);
  await until('the log has the replacement', () => pidOf(program) !== pid);
  await until('the replacement has reported', async () => (await acceptedIn(program)) === 12);
  const metrics = await scrape(program);
  const counts = ['configured', 'listening', 'replaced_total'].map((name) => metrics.get(`keyreeve_verifiers_${name}`));
  assert.deepEqual(counts, [1, 1, 1]);
  assert.ok((metrics.get('keyreeve_verifier_resident_memory_bytes{verifier="1"}') ?? 0) > 0);
});

test(
  'the processes of the service have priorities in the order of their work',
  { skip: process.platform !== 'linux' },
  async () => {
    await using program = await newProgram(withVerifier);
    // The 19th value; the second one can contain spaces.
    const niceOf = (pid: number): number =>
      Number(
        readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')[16],
      );
    const [main, verifier] = [niceOf(program.child.pid ?? 0), niceOf(pidOf(program))];
    assert.equal(main - verifier, 2);
  },
);

test(
  'a unix socket is open to its user and group only, and its peer is a trusted proxy',
  { skip: process.platform === 'win32' },
  async () => {
    using folder = newTempFolder();
    const path = join(folder.path, 'verify.sock');
    const environment = { KEYREEVE_VERIFY_SOCKET: path };
    await using program = await startProgram(folder.path, environment);
    assert.equal(verifyUrlOf(program), `unix:${path}`);
    assert.equal(statSync(path).mode & 0o777, 0o660);
    const { accessToken } = await program.signIn();
    const created = await program.call('POST', '/auth/api-keys', bearer(accessToken), {
      nickname: 'office',
      addresses: ['203.0.113.0/24'],
    });
    const { key } = created.json as { key: string };
    const statusFrom = (ip: string) => forwardAt(`unix:${path}`, key, { 'x-forwarded-for': ip });
    assert.deepEqual([await statusFrom('203.0.113.7'), await statusFrom('198.51.100.1')], [200, 403]);
    // The file of a killed process does not prevent the next start.
    program.signal('SIGKILL');
    await program.exited();
    await ended(pidOf(program));
    await using again = await startProgram(folder.path, environment);
    assert.equal(verifyUrlOf(again), `unix:${path}`);
    assert.equal(await forwardAt(`unix:${path}`, key, { 'x-forwarded-for': '203.0.113.7' }), 200);
    assert.equal((await again.stop()).status, 0);
  },
);

testOnBoth('while the main process is stopped, verifications continue, except those of keys with limits', async () => {
  await using place = await newPlace();
  await using program = await newProgram({ ...place.environment, ...withVerifier });
  const { key, accessToken } = await program.newKey();
  const limited = await createLimitedKey(program, accessToken, { quota: { limit: 1_000, per: 'ever' } });
  const url = verifyUrlOf(program);
  await stopProcess(program.child.pid ?? 0);
  try {
    assert.deepEqual([await forwardAt(url, key), await forwardAt(url, limited.key)], [200, 503]);
  } finally {
    program.signal('SIGCONT');
  }
  await until('the main process makes draws again', async () => (await forwardAt(url, limited.key)) === 200);
});

test('verifiers end with a killed main process, and a start waits for a socket that a stopped one has', async () => {
  using folder = newTempFolder();
  await using first = await startProgram(folder.path, { ...withVerifier, KEYREEVE_VERIFIERS: '2' });
  const { key } = await first.newKey();
  const { port } = new URL(verifyUrlOf(first));
  const [running = 0, stopped = 0] = [...pidsOf(first).values()];
  await stopProcess(stopped);
  await killMain(first);
  await ended(running);
  await using second = await startProgram(folder.path, { KEYREEVE_VERIFY_PORT: port });
  assert.equal(second.records('verify_socket_in_use').length, 1);
  assert.equal(await forwardAt(second.url, key), 200);
  process.kill(stopped, 'SIGCONT');
  await second.waitForRecord('verifier_listening');
  assert.equal(await forwardAt(`http://127.0.0.1:${port}`, key), 200);
  assert.equal((await second.stop()).status, 0);
});
