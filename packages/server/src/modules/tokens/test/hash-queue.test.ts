/** While the queue of password hashes is full, a sign-in is rejected before it is counted, or its count is given back. */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { basic, goodPassword, newApp, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'you@example.com';
const wrongPassword = 'not the password at all';

const attempt = (app: TestApp, { password = wrongPassword } = {}): Promise<Answered> =>
  app.call('POST', '/auth/token', { headers: basic(email, password) });

/** On a single core the expected wait bounds the queue first, until hashes have been seen to be quick. */
async function warmUp({ service }: TestApp): Promise<void> {
  for (let n = 0; n < 30; n++) await service.services.hasher.hash('x');
}

const countBuckets = sql<{ rows: number }>('count_throttle_buckets', 'select count(*) as rows from throttle_buckets');

/** Keeps every place for a hash taken until it is told to stop, or the test has failed. */
function occupy(app: TestApp): AsyncDisposable & { readonly release: () => Promise<void> } {
  const { hasher } = app.service.services;
  const stop = new AbortController();
  const places = Array.from({ length: hasher.concurrency + limits.hashQueueMax }, async () => {
    // The next one is asked for in the same step as the last one ends, so nobody gets in between.
    // On a slow machine the queue is too long for it before it is full: then everybody is refused, which is as well.
    while (!stop.signal.aborted) await hasher.hash('x').catch(() => nextTurn());
  });
  const release = async (): Promise<void> => {
    stop.abort();
    await Promise.all(places);
  };
  return { release, [Symbol.asyncDispose]: release };
}

test(
  'while the queue of hashes is full, a sign-in is answered 503 with Retry-After and counts nothing',
  { tags: ['asvs:15.2.2'] },
  async () => {
    await using app = await newApp();
    await app.createAccount(email);
    const { stats } = app.service.services.hasher;
    await warmUp(app);
    await using occupied = occupy(app);
    for (const password of [wrongPassword, goodPassword, wrongPassword, goodPassword, wrongPassword, wrongPassword]) {
      const { refused } = stats;
      const answer = await attempt(app, { password });
      assert.equal(answer.status, 503);
      assert.equal((answer.json as { code: string }).code, 'overloaded');
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]$/);
      assert.ok(stats.refused > refused);
    }
    // Refused before a counter was written: a flood costs no commits.
    assert.deepEqual({ ...(await app.db.get(countBuckets)) }, { rows: 0 });
    await occupied.release();
    for (let n = 0; n < 5; n++) assert.equal((await attempt(app)).status, 401);
    assert.equal((await attempt(app)).status, 429);
  },
);

test('an attempt that was counted, and then found the queue full, is given back', async () => {
  await using app = await newApp();
  const { tokens } = app.service.services;
  await warmUp(app);
  for (let n = 0; n < 6; n++) {
    // The queue fills up while the attempt is being counted.
    const counted = tokens.signIn(email, new Secret(wrongPassword), { clientIp: '127.0.0.1', userAgent: '' });
    await using occupied = occupy(app);
    await assert.rejects(counted, (error) => error instanceof DomainError && error.code === 'overloaded');
    await occupied.release();
  }
  for (let n = 0; n < 5; n++) assert.equal((await attempt(app)).status, 401);
  assert.equal((await attempt(app)).status, 429);
});
