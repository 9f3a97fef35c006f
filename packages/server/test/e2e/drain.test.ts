/** The end of the process: requests in progress get responses. `src/app/test/drain.test.ts` covers the times of a drain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { HalfSent } from './half-sent.ts';
import { heldDrain, releaseDrain } from './held-drain-program.ts';
import { basic, bearer, goodPassword, newProgram, startProgram, type Program } from './program.ts';

/** Sends SIGTERM and waits until the program has logged it. */
async function startStopping(program: Program): Promise<void> {
  program.signal('SIGTERM');
  await program.waitForRecord('stopping');
}

/** Waits until new connections are refused. */
async function portCloses(program: Program): Promise<void> {
  const call = () => program.call('GET', '/health/live');
  await until('the port closes', () =>
    call().then(
      () => false,
      () => true,
    ),
  );
}

const isDrained = (program: Program) => program.records('stopped').map((record) => record['isDrained']);

test('after SIGTERM it is not ready, answers current and new requests, and ends with status 0 after the last one', async () => {
  await using program = await newProgram(heldDrain);
  const { refreshToken } = await program.signIn();
  const half = new HalfSent(program, refreshToken);
  await program.call('GET', '/health/ready');
  await startStopping(program);
  const ready = await program.call('GET', '/health/ready');
  assert.equal(ready.status, 503);
  assert.equal((ready.json as { code: string }).code, 'unavailable');
  const [live, signedIn, [refreshed, body]] = await Promise.all([
    program.call('GET', '/health/live'),
    program.call('POST', '/auth/token', basic('you@example.com', goodPassword)),
    half.finish(),
  ]);
  half.close();
  releaseDrain([program.child.pid]);
  assert.deepEqual([live.status, signedIn.status, refreshed], [200, 200, 200]);
  assert.deepEqual(Object.keys(JSON.parse(body) as object), ['accessToken', 'refreshToken']);
  const { status, stderr } = await program.exited();
  assert.deepEqual([status, stderr, isDrained(program)], [0, '', [true]]);
  // A requested stop is not logged as an error.
  assert.deepEqual(
    program.records().filter(({ level }) => level === 'error'),
    [],
  );
});

test('a response after the port has closed is complete, and the process ends with the last connection', async () => {
  await using program = await newProgram(heldDrain);
  const { refreshToken } = await program.signIn();
  const half = new HalfSent(program, refreshToken);
  await program.call('GET', '/health/live');
  await startStopping(program);
  releaseDrain([program.child.pid]);
  await portCloses(program);
  const [status, body] = await half.finish();
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(JSON.parse(body) as object), ['accessToken', 'refreshToken']);
  half.close();
  assert.equal((await program.exited()).status, 0);
  assert.deepEqual(isDrained(program), [true]);
});

test('with a request that never ends, it ends with status 1', async () => {
  await using program = await newProgram({ KEYREEVE_DRAIN_SECONDS: '0' });
  const { refreshToken } = await program.signIn();
  const half = new HalfSent(program, refreshToken);
  await program.call('GET', '/health/live');
  await startStopping(program);
  const { status, stderr } = await program.exited();
  assert.deepEqual([status, stderr, isDrained(program)], [1, '', [false]]);
  await assert.rejects(half.finish());
});

test('a second SIGTERM ends it immediately, with status 1', async () => {
  await using program = await newProgram({ KEYREEVE_DRAIN_SECONDS: '300' });
  await startStopping(program);
  const { status } = await program.endAtSecondSignal();
  assert.deepEqual([status, isDrained(program)], [1, []]);
});

test('simultaneous signals, as from a process group and a launcher, count once', async () => {
  await using program = await newProgram({ KEYREEVE_DRAIN_SECONDS: '2' });
  // Different signals, because the system merges equal pending ones. The stopped process receives both when it continues.
  program.signal('SIGSTOP');
  program.signal('SIGTERM');
  program.signal('SIGINT');
  program.signal('SIGCONT');
  const { status } = await program.exited();
  assert.deepEqual([status, isDrained(program)], [0, [true]]);
});

test('acknowledged changes and the time of a key’s last use are kept after a restart', async () => {
  using folder = newTempFolder();
  const environment = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };
  await using first = await startProgram(folder.path, environment);
  const { accessToken, refreshToken } = await first.signIn();
  const { key } = await first.createKey(accessToken);
  assert.equal((await first.call('GET', '/auth/forward', bearer(key))).status, 200);
  assert.equal((await first.stop()).status, 0);

  await using second = await startProgram(folder.path, environment);
  const listed = await second.call('GET', '/auth/api-keys?view=full', bearer(accessToken));
  const [found] = (listed.json as { apiKeys: { nickname: string; lastUsedAt: string | null }[] }).apiKeys;
  assert.equal(found?.nickname, 'first');
  assert.notEqual(found.lastUsedAt, null);
  assert.equal((await second.call('GET', '/auth/forward', bearer(key))).status, 200);
  assert.equal((await second.call('POST', '/auth/token/refresh', {}, { refreshToken })).status, 200);
});
