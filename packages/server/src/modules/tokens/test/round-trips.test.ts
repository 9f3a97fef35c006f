/** How often a sign-in waits for PostgreSQL while it holds locks, and its messages to the writer thread of SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { basic, goodPassword, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { FaultProxy } from '../../../../test/revocation-check/fault-proxy.ts';

const email = 'you@example.com';

async function signIn(app: TestApp): Promise<void> {
  const answer = await app.call('POST', '/auth/token', { headers: basic(email, goodPassword) });
  assert.equal(answer.status, 200, answer.text);
}

test('the two transactions of a sign-in take two round trips each (postgres)', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  const environment = {
    ...place.environment,
    KEYREEVE_DATABASE_URL: proxy.through(place.url),
    KEYREEVE_THROTTLE: 'on',
  };
  await using app = await newApp({ place: { ...place, environment } });
  await app.createAccount(email);
  const transactions: (readonly [what: string, roundTrips: number])[] = [];
  proxy.onCommit = (text, roundTrips) => {
    if (text.includes('\0insert_session_')) transactions.push(['session', roundTrips]);
    else if (text.includes('throttle_bucket_')) transactions.push(['attempt', roundTrips]);
  };
  // The first sign-in is not trusted, the second one is.
  await signIn(app);
  await signIn(app);
  assert.deepEqual(transactions, [
    ['attempt', 2],
    ['session', 2],
    ['attempt', 2],
    ['session', 2],
  ]);
});

test('the two transactions of a sign-in exchange two messages each with the writer thread (sqlite)', async (t) => {
  await using place = await newPlace('sqlite');
  await using app = await newApp({
    place: { ...place, environment: { ...place.environment, KEYREEVE_THROTTLE: 'on' } },
  });
  await app.createAccount(email);
  await signIn(app);
  const messages: string[] = [];
  const post = Reflect.get(Worker.prototype, 'postMessage') as (...args: unknown[]) => unknown;
  t.mock.method(Worker.prototype, 'postMessage', function (this: Worker, message: unknown): unknown {
    if (Array.isArray(message)) messages.push(JSON.stringify(message.map(([kind]: [string]) => kind)));
    return Reflect.apply(post, this, [message]);
  });
  await signIn(app);
  assert.equal(messages.length, 4, messages.join('; '));
});
