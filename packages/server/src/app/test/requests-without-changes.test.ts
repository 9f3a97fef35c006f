/**
 * Requests that change nothing do not use the writer: they get their response while another connection holds every lock that
 * a change needs.
 */
import assert from 'node:assert/strict';
import type { ErrorCode } from '@keyreeve/contract';
import { sql } from '../../foundation/database/sql.ts';
import { bearer, newApp, type Answered, type SignedIn, type TestApp } from '../../../test-kit/new-app.ts';
import { administer, newAdministrator, newTarget } from '../../../test-kit/administrators.ts';
import { assertProblem, fromFetch } from '../../../test-kit/assert-problem.ts';
import { testOnBoth } from '../../../test-kit/app-on-each-database.ts';

// SQLite has one writer: the transaction itself is the lock.
const lockAll = sql<{ locked: number }>('test_lock_all', {
  sqlite: 'select 1 as locked',
  postgres: 'lock table accounts, sessions, api_keys, rate_limit_buckets, audit_events in exclusive mode',
});
const unverify = sql('test_unverify', 'update accounts set unverified_since = 1 where id = $1');

/** Runs `action` while a transaction of another connection blocks every change. */
async function whileLocked(app: TestApp, action: () => Promise<void>): Promise<void> {
  // As the housekeeping of a service does soon after its start: the first use of the file writes to the database.
  await app.db.usageFile?.reopen();
  await app.db.transaction(
    async (tx) => {
      await tx.all(lockAll);
      await action();
    },
    { isLong: true },
  );
}

const createKey = (app: TestApp, { accessToken }: SignedIn, nickname: string): Promise<Answered> =>
  app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname } });

async function created(app: TestApp, user: SignedIn, nickname: string): Promise<number> {
  const answer = await createKey(app, user, nickname);
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { id: number }).id;
}

const remove = (app: TestApp, { accessToken }: SignedIn, path: string): Promise<Answered> =>
  app.call('DELETE', path, { headers: bearer(accessToken) });

async function assertRejected(request: Promise<Answered>, code: ErrorCode, what: string): Promise<void> {
  assertProblem(fromFetch(await request), code, what);
}

testOnBoth('a rejected creation does not use the writer', async () => {
  await using app = await newApp({
    environment: { KEYREEVE_KEYS_PER_ACCOUNT_MAX: '2', KEYREEVE_CREATIONS_PER_MINUTE_MAX: '3' },
  });
  const [full, fast, named, unverified] = [
    await app.signIn(),
    await app.signIn(),
    await app.signIn(),
    await app.signIn(),
  ];
  for (const nickname of ['one', 'two']) await created(app, full, nickname);
  await created(app, named, 'taken');
  for (const nickname of ['one', 'two', 'three']) {
    const id = await created(app, fast, nickname);
    assert.equal((await remove(app, fast, `/auth/api-keys/${id}`)).status, 200);
  }
  await app.db.transaction((tx) => tx.run(unverify, [unverified.account.id]));
  await whileLocked(app, async () => {
    await assertRejected(createKey(app, full, 'three'), 'key_limit_reached', 'the limit');
    await assertRejected(createKey(app, named, 'taken'), 'nickname_taken', 'the nickname');
    await assertRejected(createKey(app, fast, 'four'), 'too_many_creations', 'the rate');
    await assertRejected(createKey(app, unverified, 'one'), 'email_unverified', 'the email');
  });
  assert.equal((await createKey(app, named, 'free')).status, 201);
});

testOnBoth('a rejected deletion does not use the writer', async () => {
  await using app = await newApp();
  const [user, other] = [await newTarget(app), await newTarget(app)];
  const administrator = await newAdministrator(app);
  const unknownSession = `ses_${'0'.repeat(22)}`;
  const account = `accounts/${user.account.id}`;
  await whileLocked(app, async () => {
    await assertRejected(remove(app, user, '/auth/api-keys/4711'), 'key_not_found', 'an unknown key');
    await assertRejected(remove(app, user, `/auth/api-keys/${other.keyId}`), 'not_key_owner', 'another’s key');
    await assertRejected(remove(app, user, `/auth/sessions/${unknownSession}`), 'session_not_found', 'unknown');
    await assertRejected(remove(app, user, `/auth/sessions/${other.sessionId}`), 'session_not_found', 'another’s');
    for (const [path, code] of [
      [`${account}/api-keys/4711`, 'key_not_found'],
      [`${account}/api-keys/${other.keyId}`, 'key_not_found'],
      [`${account}/sessions/${unknownSession}`, 'session_not_found'],
      [`${account}/sessions/${other.sessionId}`, 'session_not_found'],
      ['accounts/acc_unknown', 'account_not_found'],
    ] as const)
      await assertRejected(administer(app, administrator, 'DELETE', path), code, path);
    const disable = administer(app, administrator, 'POST', 'accounts/acc_unknown/disable');
    await assertRejected(disable, 'account_not_found', 'an unknown account');
  });
  assert.equal((await remove(app, user, `/auth/api-keys/${user.keyId}`)).status, 200);
});

testOnBoth('a change of a key that is rejected, or that changes nothing, does not use the writer', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CREATIONS_PER_MINUTE_MAX: '2' } });
  const [user, other] = [await newTarget(app), await newTarget(app)];
  const send = (method: string, path: string, json?: object): Promise<Answered> => {
    const headers = bearer(user.accessToken);
    return app.call(method, `/auth/api-keys/${path}`, json === undefined ? { headers } : { headers, json });
  };
  await created(app, user, 'taken');
  await whileLocked(app, async () => {
    for (const [method, path, json, code] of [
      ['PATCH', '4711', { disabled: true }, 'key_not_found'],
      ['PATCH', `${other.keyId}`, { disabled: true }, 'not_key_owner'],
      ['PATCH', `${user.keyId}`, { disabled: true, nickname: 'taken' }, 'nickname_taken'],
      ['PATCH', `${user.keyId}`, { scopes: ['keyreeve:verify'] }, 'reserved_scope'],
      ['PATCH', `${user.keyId}`, { metadata: { a: 'x'.repeat(1_024) } }, 'invalid_request'],
      ['POST', `${user.keyId}/rotate`, undefined, 'too_many_creations'],
      ['DELETE', `${user.keyId}/previous`, undefined, 'no_previous_secret'],
    ] as const)
      await assertRejected(send(method, path, json), code, `${method} ${path}`);
    const same = await send('PATCH', `${user.keyId}`, { nickname: 'held', disabled: false });
    assert.equal(same.status, 200, same.text);
  });
  app.clock.advance({ seconds: 60 });
  assert.equal((await send('POST', `${user.keyId}/rotate`)).status, 200);
  await whileLocked(app, () =>
    assertRejected(send('POST', `${user.keyId}/rotate`), 'overlap_in_progress', 'during the overlap'),
  );
});

testOnBoth('a request with a token of an ended session does not use the writer', async () => {
  await using app = await newApp();
  const { refreshToken } = await app.signIn();
  const rotated = await app.signIn();
  app.clock.advance({ seconds: 20 });
  const json = { refreshToken: rotated.refreshToken };
  const first = await app.call('POST', '/auth/token/refresh', { json });
  assert.equal((await app.call('POST', '/auth/token/revoke', { json: { refreshToken } })).status, 204);
  await whileLocked(app, async () => {
    for (let time = 0; time < 2; time++) {
      assert.equal((await app.call('POST', '/auth/token/revoke', { json: { refreshToken } })).status, 204);
      const refreshed = app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
      await assertRejected(refreshed, 'invalid_refresh_token', 'refresh');
    }
    // The predecessor of a token, presented again within its grace, gets the same successor.
    const again = await app.call('POST', '/auth/token/refresh', { json });
    assert.equal(again.status, 200, again.text);
    const tokensOf = (answer: Answered) => (answer.json as { refreshToken: string }).refreshToken;
    assert.equal(tokensOf(again), tokensOf(first));
  });
});
