/** How often a sign-in waits for PostgreSQL while it holds locks, and its messages to the writer thread of SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { basic, goodPassword, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { countRoundTrips } from '../../../../test-kit/round-trips.ts';
import { untilHousekeepingHasEnded, watchWriterMessages } from '../../../../test-kit/thread-messages.ts';

const email = 'you@example.com';

async function signIn(app: TestApp): Promise<void> {
  const answer = await app.call('POST', '/auth/token', { headers: basic(email, goodPassword) });
  assert.equal(answer.status, 200, answer.text);
}

test('the two transactions of a sign-in take two round trips each (postgres)', async () => {
  const transactions = { session: '\0insert_session_', attempt: 'rate_limit_bucket_' };
  await countRoundTrips(transactions, async (app, committed) => {
    await app.createAccount(email);
    committed.length = 0;
    // The first sign-in is not trusted, the second one is.
    await signIn(app);
    await signIn(app);
    const both = [
      ['attempt', 2],
      ['session', 2],
    ];
    assert.deepEqual(committed, [...both, ...both]);
  });
});

test('the two transactions of a sign-in exchange two messages each with the writer thread (sqlite)', async (t) => {
  await using place = await newPlace('sqlite');
  await using app = await newApp({
    place: { ...place, environment: { ...place.environment, KEYREEVE_THROTTLE: 'on' } },
  });
  await app.createAccount(email);
  await signIn(app);
  await untilHousekeepingHasEnded(app);
  const messages = watchWriterMessages(t);
  await signIn(app);
  assert.equal(messages.length, 4, messages.join('; '));
});
