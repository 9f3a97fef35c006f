/** Sessions: refresh, reuse of refresh tokens, and expiry. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { sql } from '../../../foundation/database/sql.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { checksum, fromBase62 } from '../../../foundation/crypto/secret.ts';
import { bearer, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { RefreshTokens } from '../refresh-token.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import {
  assertRejected,
  list,
  refresh,
  refreshed,
  rotated,
  signInAgain,
  signOut,
  token,
  type Pair,
} from './refreshes.ts';

const graceSeconds = 30;
const actions = async (app: TestApp): Promise<string[]> => (await listAuditEvents(app.db)).map(({ action }) => action);

test('a refresh returns a new token pair, and both tokens are valid', async () => {
  await using app = await newApp();
  const first = await app.signIn();
  app.clock.advance({ seconds: 60 });
  const second = await refreshed(app, first.refreshToken);
  const third = await rotated(app, second.refreshToken);
  assert.equal(new Set([first, second, third].map((pair) => pair.refreshToken)).size, 3);
  for (const { accessToken } of [first, second, third]) assert.equal((await list(app, accessToken)).status, 200);
});

test('a refresh token is returned again within 5 seconds of its issue, and nothing is written', async () => {
  await using app = await newApp();
  const first = await app.signIn();
  const rows = () => app.db.all(sql('test_sessions', 'select * from sessions'));
  const assertReused = async (pair: Pair): Promise<void> => {
    const [session, events] = [await rows(), await actions(app)];
    for (const seconds of [0, 1, limits.refreshReuseSeconds - 2, 0]) {
      app.clock.advance({ seconds });
      const again = await refreshed(app, pair.refreshToken);
      assert.equal(again.refreshToken, pair.refreshToken);
      assert.notEqual(again.accessToken, pair.accessToken);
      assert.equal((await list(app, again.accessToken)).status, 200);
    }
    const rivals = await Promise.all(Array.from({ length: 16 }, () => refreshed(app, pair.refreshToken)));
    assert.deepEqual(new Set(rivals.map(({ refreshToken }) => refreshToken)), new Set([pair.refreshToken]));
    assert.deepEqual([await rows(), await actions(app)], [session, events]);
    app.clock.advance({ seconds: 1 });
  };
  await assertReused(first);
  const second = await refreshed(app, first.refreshToken);
  assert.notEqual(second.refreshToken, first.refreshToken);
  await assertReused(second);
  assert.notEqual((await refreshed(app, second.refreshToken)).refreshToken, second.refreshToken);
});

test('a refresh records no audit event', async () => {
  await using app = await newApp();
  const { refreshToken } = await app.signIn();
  const before = await actions(app);
  const next = await rotated(app, refreshToken);
  await rotated(app, next.refreshToken);
  assert.deepEqual(await actions(app), before);
});

test('a replaced refresh token gets the same successor for 30 seconds', { tags: ['asvs:10.4.5'] }, async () => {
  await using app = await newApp();
  const first = await app.signIn();
  const second = await rotated(app, first.refreshToken);
  for (const seconds of [0, 1, graceSeconds - 1]) {
    app.clock.advance({ seconds });
    const again = await refreshed(app, first.refreshToken);
    assert.equal(again.refreshToken, second.refreshToken);
    assert.equal((await list(app, again.accessToken)).status, 200);
  }
  await rotated(app, second.refreshToken);
});

test('a clock that was set back does not extend the grace time of a replaced token', async () => {
  await using app = await newApp();
  const first = await app.signIn();
  const second = await rotated(app, first.refreshToken);
  app.clock.advance({ seconds: -limits.clockSkewSeconds });
  assert.equal(
    (await refreshed(app, first.refreshToken)).refreshToken,
    second.refreshToken,
    'within the tolerated clock difference',
  );
  app.clock.advance({ seconds: -1 });
  assertRejected(await refresh(app, first.refreshToken), 'refresh_token_reused');
});

test('a clock that was set back does not make an earlier sign-in recent', async () => {
  await using app = await newApp();
  const { accessToken, refreshToken } = await app.signIn();
  const begin = async (access: string): Promise<string> =>
    (
      (await app.call('POST', '/auth/account/second-factor', { headers: bearer(access), json: { no: 'password' } }))
        .json as { code: string }
    ).code;
  app.clock.advance({ seconds: -limits.clockSkewSeconds });
  assert.equal(await begin(accessToken), 'invalid_request', 'within the tolerated clock difference');
  app.clock.advance({ seconds: -1 });
  const later = await refreshed(app, refreshToken);
  assert.equal(await begin(later.accessToken), 'reauth_required');
});

const reuses: readonly (readonly [what: string, rotations: number, secondsLater: number])[] = [
  ['the predecessor after the grace time', 1, graceSeconds + 1],
  ['an older generation within the grace time', 2, 0],
  ['a much older generation', 5, 3_600],
];
for (const [what, rotations, seconds] of reuses) {
  test(`reuse of a refresh token ends its session and no other session: ${what}`, async () => {
    await using app = await newApp();
    const first = await app.signIn();
    const other = await signInAgain(app, first.account.email);
    let latest: Pair = first;
    for (let round = 0; round < rotations; round++) latest = await rotated(app, latest.refreshToken);
    app.clock.advance({ seconds });
    // Not expired, so that only the end of its session rejects it.
    const { accessToken } = seconds >= 600 ? (latest = await refreshed(app, latest.refreshToken)) : latest;
    assert.equal((await list(app, accessToken)).status, 200);

    assertRejected(await refresh(app, first.refreshToken), 'refresh_token_reused');
    assertRejected(await list(app, accessToken), 'invalid_access_token');
    assertRejected(await refresh(app, latest.refreshToken), 'invalid_refresh_token');
    assertRejected(await refresh(app, first.refreshToken), 'invalid_refresh_token');
    await refreshed(app, other.refreshToken);
    assert.equal((await actions(app)).filter((action) => action === 'session.reuse_detected').length, 1);
  });
}

test('the predecessor ends the session one second after the grace time', { tags: ['asvs:10.4.5'] }, async () => {
  await using app = await newApp();
  const first = await app.signIn();
  const second = await rotated(app, first.refreshToken);
  app.clock.advance({ seconds: graceSeconds });
  assert.equal((await refreshed(app, first.refreshToken)).refreshToken, second.refreshToken);
  app.clock.advance({ seconds: 1 });
  assertRejected(await refresh(app, first.refreshToken), 'refresh_token_reused');
  assertRejected(await refresh(app, second.refreshToken), 'invalid_refresh_token');
});

/** Variations of a valid token that this installation did not create. */
function forgeries(good: string, older: string): readonly (readonly [what: string, text: string])[] {
  const body = fromBase62(good.slice(5, 97), 68) ?? Buffer.alloc(0);
  const changed = (at: number, bytes: Uint8Array): string => {
    const copy = Buffer.from(body);
    copy.set(bytes, at);
    return token(copy);
  };
  const foreign = new RefreshTokens(deriveKeys(randomBytes(32)));
  const olderBody = fromBase62(older.slice(5, 97), 68) ?? Buffer.alloc(0);
  return [
    ['another text', 'x'],
    ['an API key', `krv_${'0'.repeat(49)}`],
    ['cut by a character', good.slice(0, -1)],
    ['longer by a character', `${good}0`],
    ['its first half', good.slice(0, 51)],
    ['a space before', ` ${good}`],
    ['another prefix', good.replace('krvr_', 'krvc_')],
    ['another case of the prefix', good.replace('krvr_', 'KRVR_')],
    ['a wrong checksum', good.slice(0, -1) + (good.endsWith('0') ? '1' : '0')],
    ['a character outside base62', `${good.slice(0, 50)}-${good.slice(51)}`],
    ['a number beyond 68 bytes', `krvr_${'z'.repeat(92)}${checksum(`krvr_${'z'.repeat(92)}`)}`],
    ['random bytes that name the session', changed(16, randomBytes(52))],
    ['another secret', changed(20, randomBytes(32))],
    ['another generation', changed(16, Buffer.of(0, 0, 0, 1))],
    ['a future generation', changed(16, Buffer.of(0, 0, 1, 0))],
    ['a proof of zeros', changed(52, Buffer.alloc(16))],
    ['the proof of an older generation', changed(52, olderBody.subarray(52))],
    ['another session', changed(0, randomBytes(16))],
    ['a token of another installation', foreign.first().text.reveal()],
  ];
}

test('a forged refresh token does not end the session that it contains', async () => {
  await using app = await newApp();
  const first = await app.signIn();
  const second = await rotated(app, first.refreshToken);
  const third = await rotated(app, second.refreshToken);
  for (const [what, text] of forgeries(third.refreshToken, second.refreshToken)) {
    assert.notEqual(text, third.refreshToken, what);
    assertRejected(await refresh(app, text), 'invalid_refresh_token', what);
    assert.equal((await signOut(app, text)).status, 204, what);
    assert.equal((await list(app, third.accessToken)).status, 200, what);
  }
  await refreshed(app, third.refreshToken);
});

test('a session ends when it is not refreshed for 14 days', { tags: ['asvs:7.3.1', 'asvs:7.4.1'] }, async () => {
  await using app = await newApp();
  const used = await app.signIn();
  const unused = await app.signIn();
  app.clock.advance({ days: 14, seconds: -1 });
  const next = await refreshed(app, used.refreshToken);
  app.clock.advance({ seconds: 1 });
  assertRejected(await refresh(app, unused.refreshToken), 'invalid_refresh_token');
  app.clock.advance({ days: 14, seconds: -2 });
  await refreshed(app, next.refreshToken);
});

test(
  'a session ends 30 days after its sign-in, however often it is refreshed',
  { tags: ['asvs:7.3.2', 'asvs:10.4.8'] },
  async () => {
    await using app = await newApp();
    let pair: Pair = await app.signIn();
    for (const days of [10, 10]) {
      app.clock.advance({ days });
      pair = await refreshed(app, pair.refreshToken);
    }
    app.clock.advance({ days: 10, seconds: -1 });
    pair = await refreshed(app, pair.refreshToken);
    assert.equal((await list(app, pair.accessToken)).status, 200);
    app.clock.advance({ seconds: 1 });
    assertRejected(await refresh(app, pair.refreshToken), 'invalid_refresh_token');
    assertRejected(await list(app, pair.accessToken), 'invalid_access_token');
  },
);

testOnBoth('50 parallel refreshes of one token return the same successor', async () => {
  await using app = await newApp();
  const { refreshToken } = await app.signIn();
  app.clock.advance({ seconds: limits.refreshReuseSeconds });
  const pairs = await Promise.all(Array.from({ length: 50 }, () => refreshed(app, refreshToken)));
  const [successor, ...others] = new Set(pairs.map((pair) => pair.refreshToken));
  assert.notEqual(successor, refreshToken);
  assert.deepEqual(others, []);
  await refreshed(app, pairs[0]?.refreshToken ?? '');
});

test(
  'an account has up to 50 sessions, and the next sign-in ends the oldest',
  { tags: ['asvs:2.3.2', 'asvs:7.1.2'] },
  async () => {
    await using app = await newApp();
    const first = await app.signIn();
    const pairs: Pair[] = [first];
    const other = await app.signIn();
    for (let round = 1; round < 50; round++) {
      app.clock.advance({ seconds: 1 });
      pairs.push(await signInAgain(app, first.account.email));
    }
    for (const { accessToken } of pairs) assert.equal((await list(app, accessToken)).status, 200);
    // A refresh does not change the age of a session.
    const oldest = await refreshed(app, first.refreshToken);
    app.clock.advance({ seconds: 1 });
    pairs.push(await signInAgain(app, first.account.email));
    assertRejected(await list(app, oldest.accessToken), 'invalid_access_token');
    assertRejected(await refresh(app, oldest.refreshToken), 'invalid_refresh_token');
    for (const { accessToken } of pairs.slice(1)) assert.equal((await list(app, accessToken)).status, 200);
    assert.equal((await list(app, other.accessToken)).status, 200);
  },
);
