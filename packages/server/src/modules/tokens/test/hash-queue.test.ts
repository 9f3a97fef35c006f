/** While the queue of password hashes is full, a sign-in is rejected and not counted. */
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

/** Until fast hashes have been measured, the expected wait limits the queue more than its length on a single core. */
async function warmUp({ service }: TestApp): Promise<void> {
  for (let n = 0; n < 30; n++) await service.services.hasher.hash('x');
}

const countBuckets = sql<{ rows: number }>(
  'count_rate_limit_buckets',
  'select count(*) as rows from rate_limit_buckets',
);

/** Keeps the queue full until `release` is called or the test ends. */
function occupy(app: TestApp): AsyncDisposable & { readonly release: () => Promise<void> } {
  const { hasher } = app.service.services;
  const stop = new AbortController();
  const slots = Array.from({ length: hasher.concurrency + limits.hashQueueMax }, async () => {
    // Each hash is followed by the next one without a pause, so no other hash gets its slot.
    // A slow machine rejects hashes before the queue is full: the sign-in of the test is rejected as well.
    while (!stop.signal.aborted) await hasher.hash('x').catch(() => nextTurn());
  });
  const release = async (): Promise<void> => {
    stop.abort();
    await Promise.all(slots);
  };
  return { release, [Symbol.asyncDispose]: release };
}

test(
  'while the queue of hashes is full, a sign-in returns 503 with Retry-After and is not counted',
  { tags: ['asvs:15.2.2'] },
  async () => {
    await using app = await newApp();
    await app.createAccount(email);
    const { hasher } = app.service.services;
    await warmUp(app);
    await using occupied = occupy(app);
    for (const password of [wrongPassword, goodPassword, wrongPassword, goodPassword, wrongPassword, wrongPassword]) {
      const { refused } = hasher.stats;
      const answer = await attempt(app, { password });
      assert.equal(answer.status, 503);
      assert.equal((answer.json as { code: string }).code, 'overloaded');
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]$/);
      assert.ok(hasher.stats.refused > refused);
    }
    // Rejected before a counter was written: a flood costs no commits.
    assert.deepEqual({ ...(await app.db.get(countBuckets)) }, { rows: 0 });
    await occupied.release();
    for (let n = 0; n < 5; n++) assert.equal((await attempt(app)).status, 401);
    assert.equal((await attempt(app)).status, 429);
  },
);

test('an attempt is no longer counted when the queue fills up after its count', async () => {
  await using app = await newApp();
  const { tokenPairs } = app.service.services;
  await warmUp(app);
  for (let n = 0; n < 6; n++) {
    // The queue fills up while the attempt is counted.
    const counted = tokenPairs.signIn(email, new Secret(wrongPassword), { clientIp: '127.0.0.1', userAgent: '' });
    await using occupied = occupy(app);
    await assert.rejects(counted, (error) => error instanceof DomainError && error.code === 'overloaded');
    await occupied.release();
  }
  for (let n = 0; n < 5; n++) assert.equal((await attempt(app)).status, 401);
  assert.equal((await attempt(app)).status, 429);
});
